import { statfs } from 'node:fs/promises'
import { settingFix, type CheckContext, type Finding } from './check.ts'

const GiB = 1024 ** 3

/** Whether builds of environments have the room that they may use, and whether managers can build on what is another group's. */
export async function checkBuilds({ config, engine }: CheckContext): Promise<Finding[]> {
  const { mode, bases, limits } = config.environments
  if (mode === 'off') return []
  const findings = mode === 'managers' && bases?.includes('*') ? [anyBase] : []
  const { address, rootDir } = await engine.report()
  if (!address.startsWith('unix:') || rootDir === '') return findings
  // The folder of an engine that this process cannot see.
  const found = await statfs(rootDir).catch(() => undefined)
  const free = found && found.bavail * found.bsize
  return free === undefined || free >= limits.maxSize ? findings : [...findings, noRoom(rootDir, free, limits.maxSize)]
}

const anyBase: Finding = {
  level: 'warning',
  what: 'BUILD_BASES has *: managers of any group can build on every image that the engine has or can pull with credentials of templates, and so read those of other groups.',
  fix: 'name the images in BUILD_BASES, or leave it out: then managers build on what members of their group launch',
}

const noRoom = (folder: string, free: number, needed: number): Finding => ({
  level: 'warning',
  what: `${folder} has ${(free / GiB).toFixed(1)} GiB left, and a build may take ${(needed / GiB).toFixed(1)} (BUILD_MAX_SIZE): it could leave no room for containers.`,
  fix: `${settingFix(`BUILD_MAX_SIZE=${Math.max(1, Math.floor(free / 2 / GiB))}g`)}; or make room: docker image prune`,
})
