import { readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isProcessAlive } from '@berth/server/machine/process-alive.ts'
import type { TrialEngine } from '@berth/server/engines/trial-engine.ts'

/**
 * Removes what killed runs left on the engine and in the folder of temporary files; those whose process lives are left.
 * @param imageOf name of the image of an installation
 */
export async function removeAbandoned(
  engine: TrialEngine,
  purpose: string,
  imageOf: (installation: string) => string,
): Promise<void> {
  const isAbandoned = (pid: string | undefined) => pid !== undefined && !isProcessAlive(Number(pid))
  const ofInstallation = new RegExp(`^${purpose}-(\\d+)-[a-z]{5}$`)
  for (const name of await engine.installations())
    if (isAbandoned(ofInstallation.exec(name)?.[1])) await engine.removeInstallation(name, imageOf(name))
  const ofFolder = new RegExp(`^berth-${purpose}-(\\d+)-\\w{6}$`)
  for (const name of readdirSync(tmpdir()))
    if (isAbandoned(ofFolder.exec(name)?.[1])) rmSync(path.join(tmpdir(), name), { recursive: true, force: true })
}

/** Calls the last first; each is tried. The list is empty afterwards. @throws the first failure */
export async function endAll(endings: (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (let ending = endings.pop(); ending; ending = endings.pop())
    try {
      await ending()
    } catch (error) {
      failures.push(error)
    }
  if (failures.length > 0) throw failures[0]
}
