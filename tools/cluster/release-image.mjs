import { join } from 'node:path'
import { execPath } from 'node:process'
import { runLimited } from './limited.mjs'

/** Of an image that is made for a run and removed after it; a release has another. */
const version = '0.0.0-cluster'

/** In s; on two cores it takes a minute. */
const limits = { make: 420, load: 120 }

/**
 * Makes the image of a release from the files as they are, and gives it to Docker.
 * @param {string} root of the repository
 * @returns {Promise<{ image: string } | { reason: string }>} its name, or why there is none
 */
export async function makeReleaseImage(root) {
  const dist = join(root, '.berth/release/cluster')
  const options = ['--trial', '--only=OCI image', `--release=${version}`, `--dist=${dist}`]
  const made = await runLimited(execPath, [join(root, 'tools/release/main.mjs'), ...options], limits.make)
  if (made.problem !== undefined) return { reason: `the image of a release ${made.problem}` }
  const archive = join(dist, `berth-${version}-oci-amd64.tar`)
  const loaded = await runLimited('docker', ['load', '--input', archive], limits.load)
  await runLimited('rm', ['-r', dist], 60)
  return loaded.problem === undefined ? { image: `berth:${version}` } : { reason: `docker load ${loaded.problem}` }
}

/** @param {string} image */
export const removeImage = async (image) => void (await runLimited('docker', ['rmi', image], 60))
