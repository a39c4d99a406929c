import type { Branding } from './branding.ts'
import { readBranding } from './read-branding.ts'

/**
 * The file of `BRANDING_FILE`, with the images and texts that it names.
 * @param zone time zone of times without one @param problems gets a sentence for each problem found
 * @returns null without such a file, or with problems
 */
export function readBrandingFile(
  text: (name: 'BRANDING_FILE') => string | null,
  readFile: (path: string) => string,
  zone: string,
  problems: string[],
): Branding | null {
  const file = text('BRANDING_FILE')
  if (file === null) return null
  try {
    const read = readBranding(readFile(file), file, zone)
    problems.push(...read.problems)
    return read.branding
  } catch (error) {
    problems.push(`BRANDING_FILE: cannot read ${file}: ${(error as Error).message}`)
    return null
  }
}
