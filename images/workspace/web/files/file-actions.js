import { files } from '../api.js'
import { askForChoice, askForText } from '../ui/dialogs.js'
import { element, part } from '../ui/element.js'
import { icon } from '../ui/icons.js'
import { attempt } from '../ui/notifications.js'
import { t } from '../ui/i18n.js'

/** @import { OpenFiles } from './open-files.js' */
/** @import { Tree } from './file-tree.js' */

/**
 * The actions on files: the buttons above the tree, and files dropped onto it.
 * @param {Tree} tree
 * @param {OpenFiles} open
 */
export function fileActions(tree, open) {
  const upload = /** @type {HTMLInputElement} */ (part('upload'))
  const actions = {
    newFile: () => createFile(tree, open),
    newFolder: () => createFolder(tree),
    rename: () => rename(tree, open),
    remove: () => remove(tree, open),
  }
  part('file-tools').append(
    button('newFile', 'New file', () => attempt(actions.newFile)),
    button('newFolder', 'New folder', () => attempt(actions.newFolder)),
    button('upload', 'Upload files', () => upload.click()),
    button('rename', 'Rename (F2)', () => attempt(actions.rename)),
    button('remove', 'Delete (Del)', () => attempt(actions.remove)),
  )
  upload.addEventListener('change', () => {
    const chosen = [...(upload.files ?? [])]
    upload.value = ''
    attempt(() => uploadAll(tree, chosen))
  })
  acceptDrops(tree)
  return actions
}

/** @param {Parameters<typeof icon>[0]} name @param {string} label @param {() => void} action */
function button(name, label, action) {
  const made = element('button', { class: 'icon-button', type: 'button', 'aria-label': t(label), title: t(label) }, [
    icon(name),
  ])
  made.addEventListener('click', action)
  return made
}

/** @param {Tree} tree @param {OpenFiles} open */
async function createFile(tree, open) {
  const name = await askForText({ title: t('New file'), label: placeLabel(tree), action: t('Create') })
  if (!name) return
  const path = inFolder(tree, name)
  await files.create(path, '')
  await tree.reveal(path)
  await open.open(path)
}

/** @param {Tree} tree */
async function createFolder(tree) {
  const name = await askForText({ title: t('New folder'), label: placeLabel(tree), action: t('Create') })
  if (!name) return
  const path = inFolder(tree, name)
  await files.createFolder(path)
  await tree.reveal(path)
}

/** @param {Tree} tree @param {OpenFiles} open */
async function rename(tree, open) {
  const line = tree.selected
  if (!line) return
  const label = t('New name, or a path from the home folder to move it')
  const to = await askForText({
    title: t('Rename {name}', { name: line.name }),
    label,
    value: line.path,
    action: t('Rename'),
  })
  if (!to || to === line.path) return
  await files.move(line.path, to)
  open.moved(line.path, to)
  await tree.reveal(to)
}

/** @param {Tree} tree @param {OpenFiles} open */
async function remove(tree, open) {
  const line = tree.selected
  if (!line) return
  const text =
    line.kind === 'folder'
      ? t('The folder and everything in it will be gone for good.')
      : t('The file will be gone for good.')
  const choice = await askForChoice({
    title: t('Delete {name}?', { name: line.name }),
    text,
    choices: [['delete', t('Delete'), 'danger']],
  })
  if (choice !== 'delete') return
  await files.remove(line.path)
  open.removed(line.path)
  await tree.refresh()
}

/** @param {Tree} tree @param {readonly File[]} chosen */
async function uploadAll(tree, chosen) {
  const folder = tree.folder
  for (const file of chosen) await files.create(folder === '' ? file.name : `${folder}/${file.name}`, file)
  await tree.refresh()
}

/** @param {Tree} tree */
function acceptDrops(tree) {
  const { place } = tree
  place.addEventListener('dragover', (event) => {
    event.preventDefault()
    place.classList.add('dropping')
  })
  place.addEventListener('dragleave', () => place.classList.remove('dropping'))
  place.addEventListener('drop', (event) => {
    event.preventDefault()
    place.classList.remove('dropping')
    attempt(() => uploadAll(tree, [...(event.dataTransfer?.files ?? [])]))
  })
}

/** @param {Tree} tree */
const placeLabel = ({ folder }) => (folder === '' ? t('Name, in the home folder') : t('Name, in {folder}/', { folder }))

/** @param {Tree} tree @param {string} name */
const inFolder = ({ folder }, name) => (folder === '' ? name : `${folder}/${name}`)
