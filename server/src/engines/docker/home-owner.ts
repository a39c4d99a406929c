import { RuntimeError } from '#/engines/runtime-error.ts'
import type { HomeOwnerCounts, HomeOwnerWork, HomeLocation } from '#/engines/runtime.ts'
import type { BoundFolder } from './bound-folders.ts'
import { requireSafeFolders } from './check-mounts.ts'
import { isValidName } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { helperFolder } from './helper-containers.ts'
import { hasHome } from './home-volumes.ts'
import { runTool } from './tool-helper.ts'

/**
 * Changes the owner of a home in a container of its own, which has the container tool and the home, no network, and of
 * rights those that this needs (container-tool/chown.c). No program of a user runs there, and no link is followed.
 * @throws {RuntimeError} `missing` · `failed`, with what could not be changed in its cause
 */
export async function changeHomeOwner(
  engine: EngineContext,
  home: HomeLocation,
  { from, to, signal, onProgress }: HomeOwnerWork,
): Promise<HomeOwnerCounts> {
  const name = 'volume' in home ? home.volume : home.folder
  const what = `change the owner of ${name}`
  if ('volume' in home && !(isValidName(name) && (await hasHome(engine, name))))
    throw new RuntimeError('missing', `${what}: it is gone`)
  await engine.helpers.free('volume' in home ? name : '')
  const isLooked = 'folder' in home && engine.isLocal
  const folders = isLooked ? await engine.boundFolders.look([home.folder], what) : []
  let done: HomeOwnerCounts | undefined
  const onLine = (line: string) => {
    const [kind, ...words] = line.split(' ')
    const [seen = NaN, changed = NaN, before = NaN, left = NaN, uid = NaN, gid = NaN] = words.map(Number)
    if (kind === 'progress' && words.length === 2) onProgress({ seen, changed })
    else if (kind === 'done' && words.length === 6) done = { seen, changed, before, left, from: { uid, gid } }
    else return false
    return true
  }
  const { exitCode, errors } = await runTool(engine, {
    what,
    task: 'chown',
    args: [from ?? '-', to, helperFolder, whichOf(folders[0])],
    // Files of every account are found and given away; nothing of what is in them is read.
    capabilities: ['CHOWN', 'DAC_OVERRIDE'],
    mounts: [mountOf(home)],
    signal,
    check: (id) => requireSafeFolders(engine, id, folders, signal),
    onLine,
  })
  if (done && done.left === 0) return done
  const count = done ? `${done.left} of ${done.seen} files and folders could not be changed` : 'it broke off'
  throw new RuntimeError('failed', `${what}: ${count}`, new Error(`exit code ${exitCode}: ${errors}`))
}

/** The folder that the tool has to find, whatever is at its path by then. */
const whichOf = (folder: BoundFolder | undefined) => (folder ? `${folder.device}:${folder.inode}` : '-')

function mountOf(home: HomeLocation): object {
  const target = { Target: helperFolder, ReadOnly: false }
  return 'volume' in home
    ? { ...target, Type: 'volume', Source: home.volume, VolumeOptions: { NoCopy: true } }
    : { ...target, Type: 'bind', Source: home.folder, BindOptions: { Propagation: 'rprivate' } }
}
