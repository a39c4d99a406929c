import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { readAssets, type Asset } from './static-assets.ts'

/** The built front end, in memory. */
export interface FrontEndFiles {
  /** The document, as the build made it. */
  readonly html: string
  /** By their paths below `/assets/`. */
  readonly assets: ReadonlyMap<string, Asset>
}

/** What was read before a start, for that start. */
const prepared = new Map<string, FrontEndFiles>()

/** Reads the front end for the next `frontEndFiles` of this process. @throws as `frontEndFiles` */
export async function prepareFrontEndFiles(webDir: string): Promise<void> {
  prepared.set(webDir, await read(webDir))
}

/** As `frontEndFiles`, and leaves them prepared: a follower serves them, and may have to start the application. @throws as `frontEndFiles` */
export async function sharedFrontEndFiles(webDir: string): Promise<FrontEndFiles> {
  if (!prepared.has(webDir)) await prepareFrontEndFiles(webDir)
  return prepared.get(webDir) ?? read(webDir)
}

/** @throws {Error} for the operator, when the front end is not built */
export async function frontEndFiles(webDir: string): Promise<FrontEndFiles> {
  const files = prepared.get(webDir)
  // A later start in this process may find another build.
  prepared.delete(webDir)
  return files ?? read(webDir)
}

async function read(webDir: string): Promise<FrontEndFiles> {
  try {
    const html = await readFile(path.join(webDir, 'index.html'), 'utf8')
    return { html, assets: await readAssets(path.join(webDir, 'assets')) }
  } catch (error) {
    throw new Error(`the front end is not built (no index.html in ${webDir}); run npm start, which builds it`, {
      cause: error,
    })
  }
}
