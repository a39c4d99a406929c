import { onAnswer } from './api.js'
import { part } from './ui/element.js'
import { t } from './ui/i18n.js'

/**
 * A notice above the panes when the sign-in has ended: why nothing works, and the way to sign in and come back. It goes
 * as soon as a request is answered again, as after a sign-in in another tab.
 * @param {{ hasUnsaved: () => boolean, onEnd: () => void, onReturn: () => void }} parts
 */
export function showSignInNotice({ hasUnsaved, onEnd, onReturn }) {
  const link = /** @type {HTMLAnchorElement} */ (part('sign-in'))
  // Leaving the page would lose what is not saved.
  link.addEventListener('click', () => (link.target = hasUnsaved() ? '_blank' : ''))
  onAnswer((status) => {
    const isEnded = status === 401
    if (isEnded === !part('sign-in-ended').hidden) return
    part('sign-in-ended').hidden = !isEnded
    part('sign-in-text').textContent = !isEnded
      ? ''
      : hasUnsaved()
        ? t(
            'Your sign-in has ended. The container keeps running. Sign in in a new tab, and what is not saved stays here.',
          )
        : t('Your sign-in has ended. The container keeps running.')
    if (isEnded) onEnd()
    else onReturn()
  })
}
