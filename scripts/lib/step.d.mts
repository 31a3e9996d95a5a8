export function step<Result>(sentence: string, work: () => Result | Promise<Result>): Promise<Result>;
