import { t } from './ui/i18n.js'

/** In ms: the first delay, the max delay, and how long reconnection is automatic. */
const waits = { first: 1_000, max: 15_000, limit: 600_000 }
/** The container is being stopped (RFC 6455, 7.4.1). */
const goingAway = 1001
/** A user whose last input is more recent than this is present, in ms. */
const recently = 60_000

/**
 * Reconnects after a lost connection with exponential backoff, for ten minutes, and only while the page is visible. A
 * container that was suspended because it is idle must not be started again by an open tab: the page then waits for the
 * user's next input.
 */
export class Reconnection {
  #connect
  #onState
  #tries = 0
  #since = 0
  #lastAct = Date.now()
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer
  #isWaiting = false
  #isHeld = false

  /** @param {{ connect: () => void, onState: (text: string, isOver: boolean) => void }} parts */
  constructor({ connect, onState }) {
    this.#connect = connect
    this.#onState = onState
    for (const type of ['keydown', 'pointerdown', 'focus', 'online']) addEventListener(type, () => this.#acted())
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && this.#acted())
  }

  /** The connection is open. */
  succeeded() {
    this.stop()
    this.#tries = 0
    this.#since = 0
  }

  /** Stops until the next loss. */
  stop() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isWaiting = false
  }

  /** The connection was lost, or could not be opened. @param {number} code close code of the socket */
  after(code) {
    this.stop()
    if (this.#isHeld) return
    this.#since ||= Date.now()
    const isHere = document.visibilityState === 'visible' && Date.now() - this.#lastAct < recently
    if (code === goingAway && !isHere) {
      return this.#waitForPerson(t('The container was stopped. It starts when you come back to this page.'))
    }
    if (document.visibilityState !== 'visible' || Date.now() - this.#since > waits.limit) {
      return this.#waitForPerson(t('The connection to the container was lost.'))
    }
    this.#onState(t('The connection was lost. Connecting again…'), true)
    this.#timer = setTimeout(this.#connect, Math.min(waits.first * 2 ** this.#tries++, waits.max))
  }

  /** Stops trying until `resume`: every attempt would be refused. */
  hold() {
    this.stop()
    this.#isHeld = true
    this.#onState('', false)
  }

  /** Connects again now. */
  resume() {
    this.stop()
    this.#isHeld = false
    this.#tries = 0
    this.#since = Date.now()
    this.#onState(t('The connection was lost. Connecting again…'), true)
    this.#connect()
  }

  /** @param {string} words */
  #waitForPerson(words) {
    this.#isWaiting = true
    this.#onState(words, true)
  }

  #acted() {
    this.#lastAct = Date.now()
    if (this.#isWaiting) this.resume()
  }
}
