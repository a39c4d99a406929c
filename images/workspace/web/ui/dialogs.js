import { element } from './element.js'
import { t } from './i18n.js'

/**
 * Asks for one line of text.
 * @param {{ title: string, label: string, value?: string, action: string }} options
 * @returns {Promise<string | undefined>} trimmed; undefined when cancelled
 */
export async function askForText({ title, label, value = '', action }) {
  const input = /** @type {HTMLInputElement} */ (
    element('input', {
      id: 'dialog-text',
      value,
      required: '',
      autocomplete: 'off',
      spellcheck: 'false',
      maxlength: '250',
    })
  )
  const answer = show(title, [element('label', { for: 'dialog-text' }, [label]), input], [['ok', action, 'primary']])
  // Selects the name, without folders and extension.
  const start = value.lastIndexOf('/') + 1
  const dot = value.lastIndexOf('.')
  input.setSelectionRange(start, dot > start ? dot : value.length)
  return (await answer) === 'ok' ? input.value.trim() : undefined
}

/**
 * @param {{ title: string, text: string, choices: readonly [name: string, label: string, look?: string][] }} options
 * @returns {Promise<string>} the name of the choice; empty when cancelled
 */
export const askForChoice = ({ title, text, choices }) => show(title, [element('p', {}, [text])], choices)

/**
 * The browser's own dialog: it keeps the focus inside, ends with Escape, and gives the focus back.
 * @param {string} title
 * @param {readonly Node[]} content
 * @param {readonly (readonly [name: string, label: string, look?: string])[]} choices the first is what Enter does
 * @returns {Promise<string>}
 */
function show(title, content, choices) {
  const buttons = choices.map(([value, label, look = '']) =>
    element('button', { class: `button ${look}`, value }, [label]),
  )
  const cancel = element('button', { class: 'button', type: 'button' }, [t('Cancel')])
  const form = element('form', { method: 'dialog' }, [
    element('h2', { id: 'dialog-title' }, [title]),
    ...content,
    element('div', { class: 'actions' }, [...buttons, cancel]),
  ])
  const dialog = /** @type {HTMLDialogElement} */ (element('dialog', { 'aria-labelledby': 'dialog-title' }, [form]))
  cancel.addEventListener('click', () => dialog.close())
  document.body.append(dialog)
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue)
    })
  })
}
