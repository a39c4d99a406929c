import { getJson } from './api.js'
import { part } from './element.js'
import { fileActions } from './file-actions.js'
import { attempt } from './messages.js'
import { OpenFiles } from './open-files.js'
import { makeSplit } from './split.js'
import { openTerminal } from './terminal.js'
import { newView } from './text-editor.js'
import { Tree } from './tree.js'

const firstFile = 'README.md'
const save = /** @type {HTMLButtonElement} */ (part('save'))

const open = new OpenFiles({
  view: newView(part('editor')),
  tabs: part('tabs'),
  onChange: (active) => {
    document.body.classList.toggle('no-open-file', active === undefined)
    save.disabled = !active?.isDirty
    part('saving').textContent = active?.isDirty ? 'Not saved' : ''
    document.title = active ? `${active.isDirty ? '● ' : ''}${active.path} - Workspace` : 'Workspace'
  },
})

/** @type {ReturnType<typeof fileActions>} */
let actions
const tree = new Tree(part('tree'), {
  onOpen: (path) => attempt(() => open.open(path)),
  onRename: () => attempt(actions.rename),
  onDelete: () => attempt(actions.remove),
})
actions = fileActions(tree, open)

const saveNow = () =>
  attempt(async () => {
    await open.save()
    if (!open.hasUnsaved) part('saving').textContent = 'Saved'
  })
save.addEventListener('click', saveNow)
addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
  event.preventDefault()
  saveNow()
})
addEventListener('beforeunload', (event) => open.hasUnsaved && event.preventDefault())

/** Failing quietly: it runs by itself, and the next one comes soon. */
const lookAgain = () => Promise.all([tree.refresh(), open.refresh()]).catch(() => {})
addEventListener('focus', lookAgain)

const terminal = openTerminal(part('terminal'), {
  onState: (text, isOver) => {
    part('terminal-state').textContent = text
    part('terminal-again').hidden = !isOver
  },
  onQuiet: lookAgain,
})
part('terminal-again').addEventListener('click', () => terminal.again())

const panes = part('panes')
makeSplit(part('split-files'), {
  panes,
  property: '--files-width',
  least: 140,
  most: () => innerWidth * 0.6,
  from: (event) => event.clientX,
})
makeSplit(part('split-terminal'), {
  panes,
  property: '--terminal-height',
  least: 80,
  most: () => innerHeight * 0.75,
  from: (event) => innerHeight - event.clientY,
})

attempt(async () => {
  await tree.reveal(firstFile)
  if (tree.selected) await open.open(firstFile)
})

getJson('api/request')
  .then(({ caller }) => (part('who').textContent = caller ?? ''))
  .catch(() => {}) // Only a name in the bar; what matters has told its own trouble by now.
