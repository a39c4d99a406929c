/** One end of a pipe between two processes. Messages survive JSON, arrive whole, once and in order, or not at all. */
export interface Channel {
  /**
   * Sends a message; on a lost channel it is dropped silently, because `lost` resolves.
   * @returns a promise when the pipe is full (backpressure): await it before the next message. It never rejects, and on a lost
   * channel it may never resolve
   */
  send(message: object): Promise<void> | undefined
  /** Called for each message, in order. Must be called before the first iteration of the event loop, or messages are missed. */
  onMessage(listener: (message: unknown) => void): void
  /** Resolves when the other end is gone, after its last message. */
  readonly lost: Promise<void>
}

/** What `process`, in a forked process, and a `ChildProcess`, in its parent, have in common. */
interface Peer {
  readonly connected: boolean
  send?(message: object, handle: undefined, options: undefined, sent: () => void): boolean
  on(event: 'message', listener: (message: unknown) => void): unknown
  once(event: 'disconnect', listener: () => void): unknown
}

/** The channel that `fork` makes. @param peer the forked process, or `process` itself in it */
export function channelTo(peer: Peer): Channel {
  return {
    send: (message) => {
      if (!peer.connected || !peer.send) return undefined
      const { promise, resolve } = Promise.withResolvers<void>()
      // Without a callback a message that met a closing pipe would be an 'error' event, and end us.
      const isRoomy = peer.send(message, undefined, undefined, () => resolve())
      return isRoomy ? undefined : promise
    },
    onMessage: (listener) => void peer.on('message', listener),
    lost: new Promise((resolve) => {
      peer.once('disconnect', resolve)
      if (!peer.connected) resolve()
    }),
  }
}
