/**
 * An element; texts become text, never markup, so no name of a file can do anything.
 * @param {string} name
 * @param {Readonly<Record<string, string>>} [attributes]
 * @param {readonly (Node | string)[]} [children]
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, children = []) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

/**
 * @param {readonly string[]} heads
 * @param {readonly (readonly string[])[]} rows the first cell names the row
 */
export function tableOf(heads, rows) {
  const cell = (/** @type {string} */ text, /** @type {number} */ at) =>
    at === 0 ? element('th', { scope: 'row' }, [text]) : element('td', {}, [text])
  const head = element(
    'tr',
    {},
    heads.map((text) => element('th', { scope: 'col' }, [text])),
  )
  const body = rows.map((row) => element('tr', {}, row.map(cell)))
  return element('table', {}, [element('thead', {}, [head]), element('tbody', {}, body)])
}

/**
 * A part of the page that is always there.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function part(id) {
  const found = document.getElementById(id)
  if (!found) throw new Error(`The page has no #${id}`)
  return found
}
