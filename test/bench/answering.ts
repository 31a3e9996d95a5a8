/** The other side of child.ts: answers each question, and ends when the asking process lets go. */
export function answerQuestions(answers: Readonly<Record<string, () => unknown>>): void {
  process.on('message', (question) => {
    const answer = answers[String(question)];
    const settle = async (): Promise<void> => {
      try {
        if (answer === undefined) throw new Error(`cannot ${String(question)}`);
        process.send?.({ type: 'answer', value: await answer() });
      } catch (error) {
        const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
        process.send?.({ type: 'failed', message });
      }
    };
    void settle();
  });
  process.on('disconnect', () => process.exit(0));
}
