/** A container by its owner and type: at most one each. */
export interface ContainerRef {
  readonly userId: number
  readonly type: string
}

/** The pair as one text, for maps and queues. An id has no space in it, so no two pairs share a key. */
export const containerKey = ({ userId, type }: ContainerRef) => `${userId} ${type}`
