import type { Language } from '@berth/api/boot.ts'
import { message } from '@berth/texts/localized-message.ts'
import { requestLanguage } from '#/http1/browser-request.ts'
import { headerValue } from '#/http1/header-lines.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import { localize } from './localize-plain.ts'

/**
 * A page that a visitor sees in a sandbox asks for its scripts and styles without a cookie (decision 032), and these are refused.
 * Of an application that consists of them nothing is left but an empty window. What it gets in their place says why.
 */

/** Of the note in the document, and of the mark at its root that keeps the style from saying the same again. */
const [noteId, mark] = ['berth-sandbox-note', 'data-berth-note']

const colours = 'background:#fff4d6;color:#3d2c00;font:16px/1.5 system-ui,sans-serif;padding:12px 16px;margin:0'
const place = 'position:relative;z-index:2147483647'

/** What is answered in place of a refused script or style of such a page. */
interface SandboxNote {
  readonly contentType: string
  readonly body: string
}

/**
 * Nothing in a request tells a page in our sandbox from a page of another site. The answer is therefore the same for every address
 * and contains nothing about it, and the script does nothing outside of a sandbox.
 * @returns undefined for what no page in a sandbox loads as a script or a style
 */
export function sandboxNote(head: RequestHead): SandboxNote | undefined {
  if (head.method !== 'GET' || headerValue(head.text, 'sec-fetch-site') !== 'cross-site') return undefined
  const language = requestLanguage(head)
  switch (headerValue(head.text, 'sec-fetch-dest')) {
    case 'script':
      return { contentType: 'text/javascript; charset=utf-8', body: scriptIn(language) }
    case 'style':
      return { contentType: 'text/css; charset=utf-8', body: styleIn(language) }
    default:
      return undefined
  }
}

const wordsIn = (language: Language) => localize(language, message('pages.sandboxNote'))

/** Styles of its elements are set one by one: a policy of the application may forbid inline styles. */
function scriptIn(language: Language): string {
  const [words, dismiss] = [wordsIn(language), localize(language, message('pages.dismiss'))].map((each) =>
    JSON.stringify(each),
  )
  return `(() => {
  if (self.origin !== 'null' || typeof document === 'undefined') return
  const root = document.documentElement
  if (root.hasAttribute('${mark}')) return
  root.setAttribute('${mark}', '')
  const note = document.createElement('div')
  const button = document.createElement('button')
  note.id = '${noteId}'
  note.setAttribute('role', 'alert')
  note.style.cssText = '${colours};${place}'
  note.textContent = ${words} + ' '
  button.type = 'button'
  button.textContent = ${dismiss}
  button.addEventListener('click', () => note.remove())
  note.append(button)
  const show = () => (document.body ?? root).prepend(note)
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', show)
  else show()
})()
`
}

/** For a page without scripts. Every character that is not plain is escaped (CSS Syntax 3, 4.3.7). */
function styleIn(language: Language): string {
  const content = wordsIn(language).replace(
    /[^\w ,.:]/gu,
    (character) => `\\${character.codePointAt(0)?.toString(16)} `,
  )
  return `html:not([${mark}])::before{content:"${content}";display:block;${colours}}\n`
}
