/** Bytes of one person or visitor on one connection through the gateway. */
export interface Stream {
  /** What the client sends first: the head of a request. */
  readonly request: string
  /** What the client sends again and again behind it. */
  readonly fromClient?: Buffer
  /** What the app answers a request with. */
  readonly answer?: string
  /** The app answers each request it gets, and not the first of a connection alone. */
  readonly answersEach?: true
  /** What the app sends again and again behind its answer. */
  readonly fromApp?: Buffer
  /** Bytes of each write of the side that sends again and again, each a segment or record of its own; as many as fit when left out. */
  readonly segment?: number
}

/** A shape of bytes in small pieces, and the same bytes in large ones, which it is compared with. */
export interface NeighbourShape {
  readonly name: string
  readonly isTls?: true
  readonly small: Stream
  readonly large: Stream
}

/** How a person reaches a container: heads of requests without the empty line. */
export interface Addresses {
  /** By its owner, with a token. */
  readonly own: (method: string, version?: string) => string
  /** By a client without an account. */
  readonly open: (method: string) => string
}

export const blockSize = 1024 * 1024

/** A text as often as it fits into a block, as bytes; once at least. */
export function repeated(text: string, size = blockSize): Buffer {
  return Buffer.from(text.repeat(Math.max(1, Math.floor(size / text.length))), 'latin1')
}
