/** A container by whose it is: there is at most one per user and type. */
export interface ContainerRef {
  readonly userId: number
  readonly type: string
}

/** The pair as one text, for maps and queues. An id has no space in it, so no two pairs share a key. */
export const containerKey = ({ userId, type }: ContainerRef) => `${userId} ${type}`
