import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { run } from '../setup/run.mjs'

/** @import { ReleaseContext } from './release-context.mjs' */

/**
 * Packs a folder as a tar archive that depends on names, contents and executable bits only: entries sorted, owned by
 * root, all of the commit's time.
 * @param {ReleaseContext} release
 * @param {string} archive its name's end chooses the compression: `.gz` or none
 * @param {string} folder
 * @param {readonly string[]} names in the folder
 * @param {readonly string[]} [options] further ones of tar
 */
export async function packFolder({ epoch, work, env }, archive, folder, names, options = []) {
  const same = ['--sort=name', `--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner', '--format=gnu']
  const compression = archive.endsWith('.gz') ? ['--use-compress-program=gzip -6 --no-name'] : []
  const args = ['--create', `--file=${archive}`, ...same, ...compression, ...options, `--directory=${folder}`, ...names]
  await run('tar', args, { log: join(work, 'pack.log'), env })
}

/** @param {string} file @returns {Promise<string>} SHA-256 in hexadecimal digits */
export async function sha256Of(file) {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file, { highWaterMark: 1_048_576 }), hash)
  return hash.digest('hex')
}
