/** @import { Entry } from './home.js' */

/**
 * A page of the app itself, as text.
 * @param {{ title: string, own: string, body: string }} parts `own`: relative way to the app's own pages
 */
const page = ({ title, own, body }) => `<!doctype html>
<html lang="en">
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
      <p class="quiet foot"><a href="${own}">What did the gateway send?</a></p>
    </main>
  </body>
</html>
`

/**
 * The page of a folder without an `index.html`.
 * @param {{ name: string, entries: readonly Entry[], isCut: boolean, own: string }} folder
 */
export function listingPage({ name, entries, isCut, own }) {
  const up = name === '/' ? '' : '<li><a href="../">One folder up</a></li>'
  const list = `<ul class="listing">${up}${entries.map(listingLine).join('\n')}</ul>`
  const nothing = entries.length === 0 ? '<p class="quiet">Nothing is in here yet.</p>' : ''
  const more = isCut ? '<p class="quiet">There is more; only the first part is shown.</p>' : ''
  return page({
    title: `Files in ${name}`,
    own,
    body: `<h1>Files in <code>${escape(name)}</code></h1>${list}${nothing}${more}`,
  })
}

/** @param {Entry} entry */
function listingLine({ name, kind, size }) {
  const slash = kind === 'folder' ? '/' : ''
  // `./` keeps a name like `javascript:x` a name.
  const link = `<a href="./${escape(encodeURIComponent(name))}${slash}">${escape(name)}${slash}</a>`
  return `<li>${link}${slash ? '' : `<span class="quiet">${sizeText(size)}</span>`}</li>`
}

/** @param {string} own */
export function missingPage(own) {
  const body = `<h1>This page is not here</h1>
      <p>No file of this site has this address. <a href="${own}../">To the start of the site</a></p>`
  return page({ title: 'Not found', own, body })
}

/** @param {number} bytes */
export function sizeText(bytes) {
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** @param {string} text */
const escape = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
