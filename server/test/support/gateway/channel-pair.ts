import { setTimeout as sleep } from 'node:timers/promises'
import type { Channel } from '@berth/gateway/rpc/rpc-connection.ts'

export interface ChannelVices {
  /** How long each message takes, in ms; meanwhile the pipe is full. */
  readonly slow?: number
  /** Which messages never arrive. */
  readonly loses?: (message: Record<string, unknown>) => boolean
}

export interface ChannelPair {
  readonly near: Channel
  readonly far: Channel
  /** Everything that was put into either end, as JSON. */
  readonly sent: string[]
  /** Cuts it: both ends see the other gone. */
  cut(): void
  /** Puts something in as if that end had said it. */
  sendFromFar(message: unknown): void
  sendFromNear(message: unknown): void
}

/** Two ends of a channel in one process, through JSON as between processes, with the vices that a test asks for. */
export function channelPair({ slow = 0, loses = () => false }: ChannelVices = {}): ChannelPair {
  const cut = Promise.withResolvers<void>()
  const sent: string[] = []
  const hear: { near?: (message: unknown) => void; far?: (message: unknown) => void } = {}
  const end = (other: 'near' | 'far', mine: 'near' | 'far'): Channel => {
    let last = Promise.resolve()
    const carry = async (text: string, before: Promise<void>) => {
      await before
      if (slow > 0) await sleep(slow)
      const arrived = JSON.parse(text) as Record<string, unknown>
      if (!loses(arrived)) hear[other]?.(arrived)
    }
    return {
      lost: cut.promise,
      onMessage: (listener) => void (hear[mine] = listener),
      send: (message) => {
        const text = JSON.stringify(message)
        sent.push(text)
        last = carry(text, last)
        return slow > 0 ? last : undefined
      },
    }
  }
  return {
    near: end('far', 'near'),
    far: end('near', 'far'),
    sent,
    cut: cut.resolve,
    sendFromFar: (message) => hear.near?.(message),
    sendFromNear: (message) => hear.far?.(message),
  }
}
