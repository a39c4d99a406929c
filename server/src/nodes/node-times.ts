/** Times of nodes and their leader, in ms; see docs/explanation/decisions/068. */
export const nodeTimes = {
  /** Without a renewal for so long, another node may lead. */
  lease: 5_000,
  /** Two thirds of it: without a renewal for so long, the leader gives no more orders. */
  ordersUntil: 3_300,
  renewEvery: 1_000,
  /** Interval at which a follower checks who leads. */
  pollEvery: 500,
  /** Without a confirmation of the leader for so long, a gateway refuses containers. */
  maxStateAge: 10_000,
  /** What two machines' clocks may differ by in that time. */
  clockTolerance: 500,
  /**
   * Heartbeat within which a node counts as alive. Longer than a gateway may serve after it: the leader confirms for as long as its
   * own lease counts, although no heartbeat reaches the database any more, and a confirmation lasts `maxStateAge`.
   */
  alive: 20_000,
} as const
