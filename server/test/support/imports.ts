import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** An import statement of the product, or a dynamic import. */
export interface Import {
  readonly file: string
  /** Path from the repository's root for our own files, else the package's name. */
  readonly target: string
  readonly isTypeOnly: boolean
}

export const root = path.resolve(import.meta.dirname, '../../..')

/** Every source file of the workspaces without tests, by its path from the root. */
export const sources: readonly string[] = globSync('{api,texts,gateway,server,cli,web}/src/**/*.{ts,tsx}', {
  cwd: root,
}).filter((file) => !/\.test\.tsx?$/.test(file))

/** Reads every import statement of `sources`. */
export function readImports(): Import[] {
  return sources.flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8')
    const statements = text.matchAll(
      /^(?:import|export)\s+(type\s)?[^'"]*?from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]/gm,
    )
    const dynamic = text.matchAll(/(?<!\w)import\(['"]([^'"]+)['"]\)/g)
    return [
      ...[...statements].map((match) => ({
        file,
        target: resolve(file, match[2] ?? match[3] ?? ''),
        isTypeOnly: match[1] !== undefined,
      })),
      ...[...dynamic].map((match) => ({ file, target: resolve(file, match[1] ?? ''), isTypeOnly: false })),
    ]
  })
}

/** Whether a path is below one of these. */
export const among = (name: string, ...starts: string[]) => starts.some((start) => name.startsWith(start))

/** An import as a failed test reports it. */
export const show = ({ file, target }: Import) => `${file} imports ${target}`

/** Filters imports by a rule that they break. */
export const offendersOf = (imports: readonly Import[]) => (isWrong: (each: Import) => boolean) =>
  imports.filter(isWrong).map(show)

function resolve(file: string, specifier: string): string {
  const workspace = file.split('/')[0]
  if (specifier.startsWith('#/')) return `${workspace}/src/${specifier.slice(2)}`
  if (specifier.startsWith('.')) return path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier))
  if (specifier.startsWith('@berth/')) return specifier.replace(/^@berth\/(\w+)\//, '$1/src/')
  return specifier
}
