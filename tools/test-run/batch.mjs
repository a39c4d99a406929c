import { after, describe } from 'node:test'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = resolve(import.meta.dirname, '../..')

/**
 * Loads the test files into this process, one after another, each as a suite with its name: its hooks are the suite's.
 * A file that cannot be loaded is a suite that fails, and a test that ends the process fails them all.
 * @param {string[]} files relative to the repository
 */
export async function runInOneProcess(files) {
  let isComplete = false
  after(() => {
    isComplete = true
  })
  process.on('exit', () => {
    if (!isComplete) process.exitCode = 1
  })
  for (const file of files) {
    await describe(file, async () => {
      await import(pathToFileURL(resolve(root, file)).href)
    })
  }
}
