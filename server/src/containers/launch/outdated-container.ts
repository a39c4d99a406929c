import type { RuntimeCapabilities } from '#/engines/runtime-capabilities.ts'
import type { ContainerSpec } from '#/engines/container-spec.ts'
import type { RuntimeContainer } from '#/engines/runtime-container.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { Template } from '#/templates/template.ts'

/**
 * Whether this container can be made to run. One that was never started may lack the starter files of its template, because Berth
 * ended before it had put them there. Where stopped containers are not kept, one whose program ended exists for its exit code and
 * its output only, and one that is being removed is about to be gone.
 */
export function canBeStarted(
  { keepsStopped }: Pick<RuntimeCapabilities, 'keepsStopped'>,
  { state }: Pick<RuntimeContainer, 'state'>,
  { files }: Pick<Template, 'files'>,
): boolean {
  if (state === 'created') return files.length === 0
  return keepsStopped || state === 'running' || state === 'paused'
}

/** A paused container is kept as it is: pausing is for keeping its memory. */
export const isUpToDate = ({ state, fingerprint }: RuntimeContainer, spec: Pick<ContainerSpec, 'fingerprint'>) =>
  state === 'paused' || fingerprint === spec.fingerprint

/**
 * Whether the image's name now names another image, as after a rebuild: one call to the engine, so only before a start.
 * A paused container keeps the old image; so does one that is started while the engine cannot tell, or has no image of
 * this name any more.
 */
export async function isImageOutdated(
  runtime: Pick<Runtime, 'imageId'>,
  { state, imageId }: Pick<RuntimeContainer, 'state' | 'imageId'>,
  image: string,
): Promise<boolean> {
  if (state === 'paused') return false
  const now = await runtime.imageId(image).catch(() => undefined)
  return now !== undefined && now !== imageId
}
