import { element, part } from './element.js'
import { t } from './i18n.js'

const shownMs = 9_000

/**
 * Reports a failure to the user. A screen reader announces it at once; it disappears after a while.
 * @param {string} text
 */
export function notify(text) {
  const close = element('button', { class: 'icon-button', type: 'button', 'aria-label': t('Dismiss') }, ['×'])
  const message = element('div', { class: 'message' }, [element('p', {}, [text]), close])
  close.addEventListener('click', () => message.remove())
  part('messages').append(message)
  setTimeout(() => message.remove(), shownMs)
}

/**
 * Runs an action of the user and reports its failure.
 * @param {() => Promise<unknown>} work
 */
export function attempt(work) {
  work().catch((error) => {
    if (error.name !== 'ApiError') console.error(error)
    notify(error.message)
  })
}
