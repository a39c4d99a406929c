import { copyFile, readdir } from 'node:fs/promises'
import { constants } from 'node:fs'
import { join } from 'node:path'

/**
 * Copies example files into an empty home, so that the first page is not blank. A home with files is unchanged.
 * Cannot fail the start: a home that cannot be written to is served as it is.
 * @param {string} home
 * @param {string} examples folder with the first files
 */
export async function seed(home, examples) {
  try {
    // ext4 puts lost+found into the root of a volume that is a disk of its own.
    const found = (await readdir(home)).filter((name) => name !== 'lost+found')
    if (found.length > 0) return
    for (const name of await readdir(examples)) {
      await copyFile(join(examples, name), join(home, name), constants.COPYFILE_EXCL)
    }
  } catch (error) {
    console.error(`The first files could not be put into ${home}:`, error)
  }
}
