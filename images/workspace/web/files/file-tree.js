import { files } from '../api.js'
import { element } from '../ui/element.js'
import { attempt } from '../ui/notifications.js'
import { icon } from '../ui/icons.js'

/**
 * @typedef {object} Line a file or folder that can be seen
 * @property {string} path
 * @property {string} name
 * @property {'file' | 'folder' | 'other'} kind
 * @property {number} level 1 for the home folder's own entries
 */

/** The files and folders, as a WAI-ARIA tree: arrow keys move, expand and collapse; Enter opens; F2 and Delete ask the page. */
export class Tree {
  /** @type {Map<string, { name: string, kind: Line['kind'] }[]>} what was last seen in each folder that is open */
  #folders = new Map([['', []]])
  /** @type {Line[]} */
  #lines = []
  /** @type {string | undefined} path */
  #selected

  /** @param {HTMLElement} root @param {{ onOpen: (path: string) => void, onRename: () => void, onDelete: () => void }} events */
  constructor(root, events) {
    this.place = root
    this.events = events
    root.addEventListener('keydown', (event) => this.#onKey(event))
    root.addEventListener('click', (event) => this.#onClick(event))
  }

  /** @returns {Line | undefined} */
  get selected() {
    return this.#lines.find(({ path }) => path === this.#selected)
  }

  /** The folder that a new file goes into: the selected one, or that of the selected file. */
  get folder() {
    const line = this.selected
    if (!line) return ''
    return line.kind === 'folder' ? line.path : parentOf(line.path)
  }

  /** Reloads every open folder; a deleted one is closed. The focus stays. */
  async refresh() {
    const seen = await Promise.all([...this.#folders.keys()].map((path) => this.#read(path)))
    const before = JSON.stringify([...this.#folders])
    for (const { path, entries } of seen) {
      if (entries) this.#folders.set(path, entries)
      else if (path !== '') this.#folders.delete(path)
    }
    if (JSON.stringify([...this.#folders]) !== before || this.#lines.length === 0) this.#render()
  }

  /** Makes a path visible and selects it; nothing is selected when it is not there. @param {string} path */
  async reveal(path) {
    for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) this.#folders.set(path.slice(0, at), [])
    await this.refresh()
    this.#select(path)
  }

  /** @param {string} path */
  async #read(path) {
    try {
      const { entries } = await files.list(path)
      return { path, entries }
    } catch (error) {
      if (path === '') throw error
      return { path, entries: undefined }
    }
  }

  /** @param {Line} line @param {boolean} isOpen */
  #expand(line, isOpen) {
    if (!isOpen) {
      for (const path of this.#folders.keys()) if (`${path}/`.startsWith(`${line.path}/`)) this.#folders.delete(path)
      return this.#render()
    }
    attempt(async () => {
      const { entries } = await files.list(line.path)
      this.#folders.set(line.path, entries)
      this.#render()
    })
  }

  /** @param {Line} line */
  #activate(line) {
    if (line.kind === 'folder') this.#expand(line, !this.#folders.has(line.path))
    if (line.kind === 'file') this.events.onOpen(line.path)
  }

  /** @param {MouseEvent} event */
  #onClick(event) {
    const target = event.target instanceof Element ? event.target.closest('[role=treeitem]') : null
    const line = this.#lines.find(({ path }) => path === target?.getAttribute('data-path'))
    if (!line) return
    this.#select(line.path)
    this.#activate(line)
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const at = this.#lines.findIndex(({ path }) => path === this.#selected)
    const line = this.#lines[at]
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const go = (/** @type {number} */ to) =>
      this.#select(this.#lines[Math.max(0, Math.min(this.#lines.length - 1, to))]?.path, true)
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(this.#lines.length - 1),
      ArrowRight: () =>
        line?.kind === 'folder' && (this.#folders.has(line.path) ? go(at + 1) : this.#expand(line, true)),
      ArrowLeft: () =>
        line &&
        (this.#folders.has(line.path)
          ? this.#expand(line, false)
          : this.#select(parentOf(line.path) || line.path, true)),
      Enter: () => line && this.#activate(line),
      ' ': () => line && this.#activate(line),
      F2: () => this.events.onRename(),
      Delete: () => this.events.onDelete(),
    }
    const action = keys[event.key]
    if (!action) return
    event.preventDefault()
    action()
  }

  /** @param {string | undefined} path @param {boolean} [withFocus] */
  #select(path, withFocus = false) {
    this.#selected = path
    for (const item of this.place.children) {
      const isIt = item.getAttribute('data-path') === path
      item.setAttribute('aria-selected', String(isIt))
      item.setAttribute('tabindex', isIt ? '0' : '-1')
      if (isIt && withFocus && item instanceof HTMLElement) item.focus()
      if (isIt) item.scrollIntoView({ block: 'nearest' })
    }
  }

  #render() {
    const hadFocus = this.place.contains(document.activeElement)
    this.#lines = this.#visible('', 1)
    if (!this.selected) this.#selected = undefined
    const items = this.#lines.map((line) => this.#item(line))
    this.place.replaceChildren(...items)
    // One line can always be reached with Tab, or the tree could not be entered by keyboard.
    if (this.#selected === undefined) items[0]?.setAttribute('tabindex', '0')
    else this.#select(this.#selected, hadFocus)
  }

  /** @param {string} folder @param {number} level @returns {Line[]} */
  #visible(folder, level) {
    return (this.#folders.get(folder) ?? []).flatMap(({ name, kind }) => {
      const path = folder === '' ? name : `${folder}/${name}`
      return [{ path, name, kind, level }, ...(this.#folders.has(path) ? this.#visible(path, level + 1) : [])]
    })
  }

  /** @param {Line} line */
  #item({ path, name, kind, level }) {
    const isOpen = this.#folders.has(path)
    const state = kind === 'folder' ? { 'aria-expanded': String(isOpen) } : {}
    const item = element(
      'div',
      { role: 'treeitem', 'aria-level': String(level), tabindex: '-1', 'data-path': path, ...state },
      [icon(kind === 'folder' ? (isOpen ? 'folderOpen' : 'folder') : 'file'), element('span', {}, [name])],
    )
    item.style.setProperty('--level', String(level))
    return item
  }
}

/** @param {string} path */
const parentOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf('/')))
