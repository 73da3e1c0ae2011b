import { FIRST_CHOICE_ROW } from '../../infra/engine/tiny/features.ts';
import type { Weights } from '../../infra/engine/tiny/weights.ts';

/** Learning rates of the three kinds of weights. */
export interface LearningRates {
  /** Spelling and syntax, which the warm start has taught: they are to change little. */
  readonly form: number;
  /** Which tool, which word: what rewards are to teach. */
  readonly choice: number;
  readonly critic: number;
}

/**
 * One step of plain gradient descent on `weights`, in place. Plain on purpose: a rule that divides by the gradient's
 * own size keeps moving at full speed when the signal has gone, and noise then wipes out what the policy still has to
 * explore.
 * @returns Euclidean norm of the gradient
 */
export function gradientStep(weights: Weights, gradient: Float32Array, rates: LearningRates): number {
  const { values, vocabularySize, criticOffset } = weights;
  const choices = FIRST_CHOICE_ROW * vocabularySize;
  let squares = 0;
  for (let i = 0; i < gradient.length; i++) {
    const g = gradient[i]!;
    if (g === 0) continue;
    squares += g * g;
    values[i]! -= g * (i < choices ? rates.form : i < criticOffset ? rates.choice : rates.critic);
  }
  return Math.sqrt(squares);
}
