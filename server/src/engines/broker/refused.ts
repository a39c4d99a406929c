/** A request that the broker does not pass on; its message is the answer, and a line of the log. */
export class Refused extends Error {
  override readonly name = 'Refused'
}
