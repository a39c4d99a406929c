import { element, part } from './element.js'
import { t } from './i18n.js'

const shownMs = 9_000

/**
 * Tells the person that something did not work. A screen reader says it at once; it goes away by itself.
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
 * Runs what a person asked for; when it fails, they are told.
 * @param {() => Promise<unknown>} work
 */
export function attempt(work) {
  work().catch((error) => {
    if (error.name !== 'ApiError') console.error(error)
    notify(error.message)
  })
}
