/** @import { Entry } from './home.js' */

const english = {
  language: 'en',
  files: 'Files in',
  up: 'One folder up',
  empty: 'Nothing is in here yet.',
  more: 'There is more; only the first part is shown.',
  missing: 'This page is not here',
  noFile: 'No file of this site has this address.',
  toStart: 'To the start of the site',
  notFound: 'Not found',
  sent: 'What did the gateway send?',
}
/** @typedef {typeof english} Words */
/** @type {Words} */
const german = {
  language: 'de',
  files: 'Dateien in',
  up: 'Einen Ordner nach oben',
  empty: 'Hier ist noch nichts.',
  more: 'Es gibt mehr; nur der erste Teil wird gezeigt.',
  missing: 'Diese Seite gibt es hier nicht',
  noFile: 'Keine Datei dieser Website hat diese Adresse.',
  toStart: 'Zum Anfang der Website',
  notFound: 'Nicht gefunden',
  sent: 'Was hat das Gateway geschickt?',
}

/** Of English and German the one that `Accept-Language` names first. @param {string | undefined} accepted */
export const wordsFor = (accepted) =>
  /\b(en|de)\b/i.exec(accepted ?? '')?.[1]?.toLowerCase() === 'de' ? german : english

/**
 * A page of the app itself, as text.
 * @param {{ title: string, own: string, body: string, words: Words }} parts `own`: relative way to the app's own pages
 */
const page = ({ title, own, body, words }) => `<!doctype html>
<html lang="${words.language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escape(title)}</title>
    <link rel="icon" href="${own}assets/icon.svg">
    <link rel="stylesheet" href="${own}assets/style.css">
  </head>
  <body class="plain">
    <main class="sheet">
${body}
      <p class="quiet foot"><a href="${own}">${words.sent}</a></p>
    </main>
  </body>
</html>
`

/**
 * The page of a folder without an `index.html`.
 * @param {{ name: string, entries: readonly Entry[], isCut: boolean, own: string, words: Words }} folder
 */
export function listingPage({ name, entries, isCut, own, words }) {
  const up = name === '/' ? '' : `<li><a href="../">${words.up}</a></li>`
  const list = `<ul class="listing">${up}${entries.map(listingLine).join('\n')}</ul>`
  const nothing = entries.length === 0 ? `<p class="quiet">${words.empty}</p>` : ''
  const more = isCut ? `<p class="quiet">${words.more}</p>` : ''
  return page({
    title: `${words.files} ${name}`,
    own,
    words,
    body: `<h1>${words.files} <code>${escape(name)}</code></h1>${list}${nothing}${more}`,
  })
}

/** @param {Entry} entry */
function listingLine({ name, kind, size }) {
  const slash = kind === 'folder' ? '/' : ''
  // `./` keeps a name like `javascript:x` a name.
  const link = `<a href="./${escape(encodeURIComponent(name))}${slash}">${escape(name)}${slash}</a>`
  return `<li>${link}${slash ? '' : `<span class="quiet">${sizeText(size)}</span>`}</li>`
}

/** @param {string} own @param {Words} words */
export function missingPage(own, words) {
  const body = `<h1>${words.missing}</h1>
      <p>${words.noFile} <a href="${own}../">${words.toStart}</a></p>`
  return page({ title: words.notFound, own, body, words })
}

/** @param {number} bytes */
export function sizeText(bytes) {
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** @param {string} text */
const escape = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
