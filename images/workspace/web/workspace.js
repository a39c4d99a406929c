import { getJson } from './api.js'
import { part } from './ui/element.js'
import { fileActions } from './files/file-actions.js'
import { attempt } from './ui/notifications.js'
import { OpenFiles } from './files/open-files.js'
import { makeSplit } from './ui/split-panes.js'
import { showSignInNotice } from './sign-in-notice.js'
import { openTerminal } from './terminal.js'
import { newView } from './files/text-editor.js'
import { Tree } from './files/file-tree.js'
import { isGerman, t, translatePage } from './ui/i18n.js'

/** The first of these that is there: only a home that is new has the German one. */
const firstFiles = isGerman ? ['LIESMICH.md', 'README.md'] : ['README.md']
translatePage()
const save = /** @type {HTMLButtonElement} */ (part('save'))

const open = new OpenFiles({
  view: newView(part('editor')),
  tabs: part('tabs'),
  onChange: (active) => {
    document.body.classList.toggle('no-open-file', active === undefined)
    save.disabled = !active?.isDirty
    part('saving').textContent = active?.isDirty ? t('Not saved') : ''
    document.title = active ? `${active.isDirty ? '● ' : ''}${active.path} - ${t('Workspace')}` : t('Workspace')
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
    if (!open.hasUnsaved) part('saving').textContent = t('Saved')
  })
save.addEventListener('click', saveNow)
addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 's' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
  event.preventDefault()
  saveNow()
})
addEventListener('beforeunload', (event) => open.hasUnsaved && event.preventDefault())

/** Ignores failures: it runs periodically. */
const lookAgain = () => Promise.all([tree.refresh(), open.refresh()]).catch(() => {})
addEventListener('focus', lookAgain)
document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && lookAgain())

const terminal = openTerminal(part('terminal'), {
  onState: (text, isOver) => {
    part('terminal-state').textContent = text
    part('terminal-again').hidden = !isOver
  },
  onQuiet: lookAgain,
  // The session may have ended, which a refused WebSocket does not say.
  onLost: lookAgain,
})
showSignInNotice({ hasUnsaved: () => open.hasUnsaved, onEnd: terminal.pause, onReturn: terminal.resume })
part('terminal-again').addEventListener('click', () => terminal.again())

const panes = part('panes')
makeSplit(part('split-files'), {
  panes,
  property: '--files-width',
  min: 140,
  max: () => innerWidth * 0.6,
  from: (event) => event.clientX,
})
makeSplit(part('split-terminal'), {
  panes,
  property: '--terminal-height',
  min: 80,
  max: () => innerHeight * 0.75,
  from: (event) => innerHeight - event.clientY,
})

attempt(async () => {
  for (const name of firstFiles) {
    await tree.reveal(name)
    if (tree.selected?.path === name) return open.open(name)
  }
})

/** The name in the bar and a link; a failure here is not reported. */
async function showWhere() {
  const { caller, prefix, berth } = await getJson('api/request').catch(() => ({}))
  part('who').textContent = caller ?? ''
  // Started by hand there is no Berth to go back to.
  part('to-berth').hidden = prefix === null && berth === null
  if (berth) part('to-berth').setAttribute('href', berth)
}
void showWhere()
