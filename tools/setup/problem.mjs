/** A reason why set-up cannot go on, in words for the person who typed the command; printed without a stack. */
export class SetupProblem extends Error {
  /** @override */
  name = 'SetupProblem'
}
