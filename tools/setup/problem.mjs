/** A reason why set-up cannot continue, as a message for the user who typed the command; printed without a stack. */
export class SetupProblem extends Error {
  /** @override */
  name = 'SetupProblem'
}
