import { copyFileSync, globSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { runProgram } from './run-program.ts'

/**
 * Puts this machine's shared libraries that the add-ons in a folder are linked with into its folder `libraries`, by the paths
 * at which the loader looks for them. Add-ons for other machines come along in packages; they have none here.
 */
export async function addLibraries(folder: string): Promise<void> {
  const addons = globSync('**/*.node', { cwd: folder })
  const found = await Promise.all(addons.map((addon) => librariesOf(path.join(folder, addon))))
  const ofTheMachine = found.flat().filter((library) => !library.startsWith(folder))
  for (const library of new Set(ofTheMachine)) {
    const copy = path.join(folder, 'libraries', library)
    mkdirSync(path.dirname(copy), { recursive: true })
    copyFileSync(library, copy)
  }
}

async function librariesOf(addon: string): Promise<string[]> {
  const text = await runProgram('ldd', [addon], '/').catch(() => '')
  return [...text.matchAll(/(?:=>\s*|^\s*)(\/\S+)(?= \()/gm)].map((match) => match[1] ?? '')
}
