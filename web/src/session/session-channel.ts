import { withStorage, type WebStorage } from './web-storage.ts'

/** The parts of `BroadcastChannel` that this module uses. */
type Channel = Pick<BroadcastChannel, 'postMessage' | 'addEventListener'>

/** Name of the channel that tabs of this browser share. */
const channelName = 'berth.session'
/** Between two checks, in ms: messages that arrive meanwhile are one check, at its end. */
const minInterval = 5_000

/**
 * Channel between the tabs of this browser: a sign-in or sign-out happened, look again. Pages of containers share the
 * origin and can listen and post here, too. A message therefore carries nothing, and causes one question to the server
 * every five seconds at most, whatever it contains.
 */
export class SessionChannel {
  readonly #channel: Channel | undefined
  readonly #listeners = new Set<() => void>()
  #isWaiting = false
  #isDue = false

  /** @param channel undefined where the browser has none: tabs then notice when they get the focus */
  constructor(channel: Channel | undefined) {
    this.#channel = channel
    channel?.addEventListener('message', () => this.#check())
  }

  /** Tells all other tabs to look again. Never throws: this tab goes on in any case. */
  announce(): void {
    try {
      this.#channel?.postMessage(null)
    } catch {
      // The channel is closed, because the document is being left.
    }
  }

  /** @param listener is called for messages of other tabs @returns removes it */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #check(): void {
    if (this.#isWaiting) {
      this.#isDue = true
      return
    }
    this.#isWaiting = true
    setTimeout(() => {
      this.#isWaiting = false
      if (this.#isDue) this.#check()
    }, minInterval)
    this.#isDue = false
    for (const listener of this.#listeners) listener()
  }
}

/**
 * Undefined where the browser has none or keeps this site from it, and outside browsers, where it would not let a
 * program end.
 */
function openChannel(): BroadcastChannel | undefined {
  try {
    if (typeof document === 'undefined') return undefined
    const channel = new BroadcastChannel(channelName)
    // Otherwise Chromium 150 now and then ended the renderer of a page that left while a message for its channel
    // arrived.
    addEventListener('pagehide', () => channel.close())
    return channel
  } catch {
    return undefined
  }
}

/** The channel of this document. */
export const sessionChannel = new SessionChannel(openChannel())

const key = 'berth.tabSignedIn'

/**
 * Announces a sign-in or sign-out that happened between two documents of this tab, as at a provider. A page of a
 * container can write here, too: all that follows is an announcement.
 */
export function announceChange(isSignedIn: boolean, channel = sessionChannel, storage?: WebStorage): void {
  // Without storage other tabs notice when they get the focus.
  withStorage(() => {
    const tab = storage ?? sessionStorage
    const [before, now] = [tab.getItem(key), isSignedIn ? 'yes' : 'no']
    tab.setItem(key, now)
    if (before !== null && before !== now) channel.announce()
  })
}
