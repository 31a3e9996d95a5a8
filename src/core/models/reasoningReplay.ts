/**
 * Whether a server wants the model's earlier reasoning back. Some refuse a chat without it ("reasoning_content must be
 * passed back"), some refuse a chat with it, and none says so before. What is known starts it off; a refusal that names
 * the field teaches the rest, once per server and session of work.
 */
const wantsReasoning = /deepseek|moonshot|kimi|\bz\.ai|bigmodel|minimax|xiaomi|mimo/i;

export class ReasoningReplay {
  isOn: boolean;
  private hasLearned = false;

  constructor(baseUrl: string, modelId: string) {
    this.isOn = wantsReasoning.test(baseUrl) || wantsReasoning.test(modelId);
  }

  /** `refusal`: body of an error response. True when the request is worth another try, the other way. */
  learn(refusal: string): boolean {
    if (this.hasLearned || !refusal.includes('reasoning_content')) return false;
    this.hasLearned = true;
    this.isOn = !this.isOn;
    return true;
  }
}
