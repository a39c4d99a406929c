/** In ms: timeout of a renewal, and how long another one is not tried after it. */
const times = { limit: 10_000, pause: 10_000 }

/** @type {Promise<void> | undefined} */
let underWay
let lastEnd = -Infinity

/**
 * Renews the sign-in after its token has expired, as while the machine slept: the gateway leads a navigation, also that of a
 * frame, to where a session is renewed, and back. A `fetch` gets 401 only.
 * @returns {Promise<boolean>} whether it was tried: the request is worth another attempt; it gets 401 again if the session is over
 */
export async function renewSignIn() {
  if (!underWay && performance.now() - lastEnd < times.pause) return false
  underWay ??= loadFrame().finally(() => {
    underWay = undefined
    lastEnd = performance.now()
  })
  await underWay
  return true
}

/** @returns {Promise<void>} */
function loadFrame() {
  const frame = document.createElement('iframe')
  frame.hidden = true
  frame.src = 'api/whoami'
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, times.limit)
    frame.addEventListener('load', () => {
      clearTimeout(timer)
      resolve()
    })
    document.body.append(frame)
  }).then(() => frame.remove())
}
