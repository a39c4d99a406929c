import { files } from '../api.js'
import { askForChoice } from '../ui/dialogs.js'
import { element } from '../ui/element.js'
import { newState, textOf } from './text-editor.js'
import { t } from '../ui/i18n.js'

/** @import { EditorState } from '@codemirror/state' */
/** @import { EditorView } from '@codemirror/view' */

/**
 * @typedef {object} OpenFile
 * @property {string} path
 * @property {string} version what the server had when it was read or saved
 * @property {EditorState} state while another file is shown
 * @property {boolean} isDirty
 */

/** The files that are open in the editor, one tab each. Unsaved changes are dropped only after a confirmation. */
export class OpenFiles {
  /** @type {OpenFile[]} */
  #files = []
  /** @type {OpenFile | undefined} */
  #active

  /** @param {{ view: EditorView, tabs: HTMLElement, onChange: (active: OpenFile | undefined) => void }} parts */
  constructor({ view, tabs, onChange }) {
    this.view = view
    this.tabs = tabs
    this.onChange = onChange
    tabs.addEventListener('keydown', (event) => this.#moveByKey(event))
  }

  get hasUnsaved() {
    return this.#files.some((file) => file.isDirty)
  }

  /** @param {string} path */
  async open(path) {
    const known = this.#find(path)
    if (known) return this.#show(known)
    const { content, version } = await files.read(path)
    // Two quick clicks read twice; the first answer has made the tab.
    const file = this.#find(path) ?? this.#add(path, content, version)
    this.#show(file)
  }

  /** Saves the file that is shown. When it was changed elsewhere, the user decides. */
  async save() {
    const file = this.#active
    if (!file) return
    try {
      await this.#write(file, file.version)
    } catch (error) {
      if (/** @type {any} */ (error).status !== 409) throw error
      await this.#settle(file, /** @type {Error} */ (error).message)
    }
    this.#render()
  }

  /** @param {OpenFile} file */
  async close(file) {
    if (file.isDirty) {
      this.#show(file)
      const choice = await askForChoice({
        title: t('Save {name}?', { name: nameOf(file.path) }),
        text: t('It has changes that are not saved.'),
        choices: [
          ['save', t('Save'), 'primary'],
          ['drop', t('Discard changes')],
        ],
      })
      if (choice === '') return
      if (choice === 'save') await this.save()
      if (choice === 'save' && file.isDirty) return
    }
    this.#drop(file)
  }

  /** Shows what the terminal or another window made of the file, unless there are unsaved changes. */
  async refresh() {
    const file = this.#active
    if (!file || file.isDirty) return
    const read = await files.read(file.path).catch(() => undefined)
    if (!read || read.version === file.version || file.isDirty || this.#active !== file) return
    file.version = read.version
    file.state = this.#newState(file, read.content)
    this.view.setState(file.state)
  }

  /** @param {string} from @param {string} to */
  moved(from, to) {
    for (const file of this.#files) {
      if (isWithin(file.path, from)) file.path = to + file.path.slice(from.length)
    }
    this.#render()
  }

  /** @param {string} path */
  removed(path) {
    for (const file of this.#files.filter((open) => isWithin(open.path, path))) this.#drop(file)
  }

  /** @param {string} path */
  #find(path) {
    return this.#files.find((file) => file.path === path)
  }

  /** @param {string} path @param {string} content @param {string} version */
  #add(path, content, version) {
    const file = /** @type {OpenFile} */ ({ path, version, isDirty: false })
    file.state = this.#newState(file, content)
    this.#files.push(file)
    return file
  }

  /** @param {OpenFile} file @param {string} content */
  #newState(file, content) {
    return newState(file.path, content, () => {
      if (file.isDirty) return
      file.isDirty = true
      this.#render()
    })
  }

  /** @param {OpenFile} file @param {string | undefined} version */
  async #write(file, version) {
    const saved = this.#stateOf(file)
    const answer = await files.write(file.path, textOf(saved), version)
    file.version = answer.version
    // Input during the request is not saved yet.
    file.isDirty = !this.#stateOf(file).doc.eq(saved.doc)
  }

  /** @param {OpenFile} file @param {string} message */
  async #settle(file, message) {
    const choice = await askForChoice({
      title: nameOf(file.path),
      text: message,
      choices: [
        ['mine', t('Save mine over it'), 'primary'],
        ['theirs', t('Load the other version')],
      ],
    })
    if (choice === 'mine') return this.#write(file, undefined)
    if (choice !== 'theirs') return
    const { content, version } = await files.read(file.path)
    Object.assign(file, { version, isDirty: false, state: this.#newState(file, content) })
    if (this.#active === file) this.view.setState(file.state)
  }

  /** @param {OpenFile} file */
  #stateOf(file) {
    return this.#active === file ? this.view.state : file.state
  }

  /** @param {OpenFile} file */
  #show(file) {
    if (this.#active === file) return this.#render()
    if (this.#active) this.#active.state = this.view.state
    this.#active = file
    this.view.setState(file.state)
    this.#render()
    // The focus stays with a user who began to type in the terminal while the first file was loading.
    if (!document.activeElement?.closest('.shell')) this.view.focus()
  }

  /** @param {OpenFile} file */
  #drop(file) {
    const at = this.#files.indexOf(file)
    this.#files.splice(at, 1)
    if (this.#active === file) {
      this.#active = undefined
      const next = this.#files[Math.min(at, this.#files.length - 1)]
      if (next) return this.#show(next)
    }
    this.#render()
  }

  /** Arrow keys walk over the tabs, Delete closes one (WAI-ARIA "tabs"). @param {KeyboardEvent} event */
  #moveByKey(event) {
    const at = this.#active ? this.#files.indexOf(this.#active) : -1
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (event.key === 'Delete' && this.#active) this.close(this.#active)
    const next = step && this.#files[(at + step + this.#files.length) % this.#files.length]
    if (!next) return
    this.#show(next)
    const tab = this.tabs.querySelector('[aria-selected=true]')
    if (tab instanceof HTMLElement) tab.focus()
  }

  #render() {
    this.tabs.replaceChildren(...this.#files.map((file) => this.#tab(file)))
    this.onChange(this.#active)
  }

  /** @param {OpenFile} file */
  #tab(file) {
    const isActive = file === this.#active
    const name = nameOf(file.path)
    const label = file.isDirty ? t('{path}, not saved', { path: file.path }) : file.path
    const tab = element(
      'button',
      {
        role: 'tab',
        type: 'button',
        'aria-selected': String(isActive),
        tabindex: isActive ? '0' : '-1',
        'aria-label': label,
      },
      [name],
    )
    tab.title = file.path
    tab.setAttribute('aria-controls', 'editor')
    tab.addEventListener('click', () => this.#show(file))
    const close = element(
      'button',
      { class: 'icon-button', type: 'button', tabindex: '-1', 'aria-label': t('Close {name}', { name }) },
      ['×'],
    )
    close.addEventListener('click', () => this.close(file))
    const look = `tab${isActive ? ' active' : ''}${file.isDirty ? ' dirty' : ''}`
    return element('div', { class: look, role: 'presentation' }, [tab, close])
  }
}

/** @param {string} path */
const nameOf = (path) => path.slice(path.lastIndexOf('/') + 1)

/** @param {string} path @param {string} folder */
const isWithin = (path, folder) => path === folder || path.startsWith(`${folder}/`)
