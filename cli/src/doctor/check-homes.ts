import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { fileReason, mountAgain } from '@berth/server/machine/allowed-paths.ts'
import { SilentFileSystem, answeringPaths } from '@berth/server/machine/answering-paths.ts'
import { folderOfHomes } from '@berth/server/templates/template-sources.ts'
import type { Template } from '@berth/server/templates/template.ts'
import type { CheckContext, Finding } from './check.ts'

const guide = 'docs/how-to/share-homes-and-folders.md#homes-on-a-file-server'

/** A folder in which there are homes of people (`home_source`), and the types that name it. */
interface HomesFolder {
  readonly path: string
  readonly types: string
  /** Whether Berth makes missing homes in it, and gives them to an account. */
  readonly isCreating: boolean
}

/** Whether folders of `home_source` answer, are file systems of their own, and can be used as the templates say. */
export async function checkHomeSources({ config }: CheckContext): Promise<Finding[]> {
  const folders = foldersOf(config.templates.all())
  const findings = await Promise.all(folders.map((each) => findingsOf(each, config.dataDir)))
  return findings.flat()
}

function foldersOf(templates: readonly Template[]): HomesFolder[] {
  const sources = templates.flatMap((template) => {
    const [path, { type, homeSource: source }] = [folderOfHomes(template), template]
    const isCreating = source !== null && 'path' in source && Boolean(source.create)
    return path === undefined ? [] : [{ type, path, isCreating }]
  })
  return [...Map.groupBy(sources, ({ path }) => path)].map(([path, named]) => ({
    path,
    types: named.map(({ type }) => type).join(', '),
    isCreating: named.some(({ isCreating }) => isCreating),
  }))
}

async function findingsOf(folder: HomesFolder, dataDir: string): Promise<Finding[]> {
  try {
    return await answeringPaths.ask(folder.path, () => look(folder, dataDir))
  } catch (error) {
    const what = `home_source of ${folder.types}`
    if (error instanceof SilentFileSystem)
      return [
        {
          level: 'critical',
          what: `${what}: ${folder.path} does not answer (${error.message}): launches of these types are refused.`,
          fix: 'is the file server up? mount, and its log, say more',
        },
      ]
    const reason = fileReason(error)
    const fix = `${reason === 'ESTALE' ? mountAgain : 'mount the file server there, or correct home_source'}: ${guide}`
    return [{ level: 'critical', what: `${what}: ${folder.path} cannot be used (${reason}).`, fix }]
  }
}

async function look({ path, types, isCreating }: HomesFolder, dataDir: string): Promise<Finding[]> {
  const found = await stat(path)
  const data = await stat(dataDir).catch(() => undefined)
  const isWritable = await access(path, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  return [
    ...(found.dev === data?.dev ? [sameFileSystem(path, types)] : []),
    ...((found.mode & 0o1002) === 0o002 ? [openToAll(path, types)] : []),
    ...(isCreating && process.getuid?.() !== 0 ? [notRoot(path, types)] : []),
    ...(isCreating && process.getuid?.() === 0 && !isWritable ? [notWritable(path, types)] : []),
  ]
}

const sameFileSystem = (path: string, types: string): Finding => ({
  level: 'hint',
  what: `home_source of ${types}: ${path} is on the file system of DATA_DIR; if it is to be on a file server, that is not mounted, and homes are made on this machine.`,
  fix: `findmnt --target ${path}; mount the file server there, or leave it so`,
})

const openToAll = (path: string, types: string): Finding => ({
  level: 'warning',
  what: `home_source of ${types}: every account of the machine may rename homes in ${path}, and put others in their place.`,
  fix: `chmod o-w ${path}`,
})

const notRoot = (path: string, types: string): Finding => ({
  level: 'warning',
  what: `home_source of ${types}: this account is not root, and so cannot make a missing home in ${path} and give it away (create).`,
  fix: `run Berth as root, or leave create out and let the file server make homes: ${guide}`,
})

const notWritable = (path: string, types: string): Finding => ({
  level: 'critical',
  what: `home_source of ${types}: root of this machine may not write to ${path}, so that no missing home is made (create).`,
  fix: `export it to this machine with no_root_squash, or leave create out and let the file server make homes: ${guide}`,
})
