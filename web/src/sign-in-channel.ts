/** Tabs of this browser tell each other that somebody has signed in; pages of containers share the origin, and could, too. */
const name = 'berth.sign-in'

/** Tells the other tabs. Who hears it asks the server: what is said here proves nothing. */
export function announceSignIn(): void {
  const channel = open()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no other origin
  channel?.postMessage('signed-in')
  channel?.close()
}

/** @param listener is called when another tab has announced it @returns what ends that */
export function onSignIn(listener: () => void): () => void {
  const channel = open()
  channel?.addEventListener('message', listener)
  return () => channel?.close()
}

/** Undefined where browsers refuse it: then a tab looks when it is seen again. */
function open(): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name)
  } catch {
    return undefined
  }
}
