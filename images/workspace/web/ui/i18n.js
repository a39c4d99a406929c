import { german, germanPatterns } from './german.js'

/** The user's choice in Berth, else the browser's first supported language. */
const language = languageOf(document.cookie, navigator.languages)

/**
 * The text in the user's language, by default English.
 * @param {string} text English, with `{name}` where a value stands
 * @param {Readonly<Record<string, string | number>>} [values]
 */
export function t(text, values = {}) {
  return inLanguage(language, text).replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole))
}

/** A sentence that the server says, which may have a number in it. @param {string} text English */
export function fromServer(text) {
  if (language !== 'de') return text
  const pattern = germanPatterns.find(([form]) => form.test(text))
  return pattern ? text.replace(pattern[0], pattern[1]) : inLanguage(language, text)
}

/** Translates the document, labels of controls included. */
export function translatePage() {
  document.documentElement.lang = language
  document.title = t(document.title)
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const { data } = /** @type {Text} */ (walker.currentNode)
    const plain = data.replace(/\s+/g, ' ').trim()
    if (Object.hasOwn(german, plain))
      /** @type {Text} */ (walker.currentNode).data = data.replace(/\S[^]*\S|\S/, t(plain))
  }
  for (const each of document.querySelectorAll('[aria-label]'))
    each.setAttribute('aria-label', t(each.getAttribute('aria-label') ?? ''))
}

/**
 * @param {string} cookies of the page; Berth's own pages store the chosen language there
 * @param {readonly string[]} preferred most wanted first
 * @returns {'en' | 'de'}
 */
export function languageOf(cookies, preferred) {
  const chosen = /(?:^|;\s*)spawner_language=(en|de)(?:;|$)/.exec(cookies)?.[1]
  const found =
    chosen ?? preferred.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag === 'en' || tag === 'de')
  return found === 'de' ? 'de' : 'en'
}

/** @param {'en' | 'de'} wanted @param {string} text */
function inLanguage(wanted, text) {
  return wanted === 'de' && Object.hasOwn(german, text)
    ? (/** @type {Record<string, string>} */ (german)[text] ?? text)
    : text
}

/** Whether the pages speak German. */
export const isGerman = language === 'de'
