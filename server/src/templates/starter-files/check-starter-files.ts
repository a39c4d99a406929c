import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TemplateProblem } from '#/templates/read-templates.ts'
import type { Template } from '#/templates/template.ts'
import { FileSources } from './file-sources.ts'

/** Timeout of one origin, in ms. */
const timeout = 60_000

/**
 * Reads all starter files of templates, repositories included, and forgets them.
 * @param roots `ALLOWED_MOUNT_ROOTS` @returns what is wrong, each with its type and a sentence that begins with that
 */
export async function checkStarterFiles(
  templates: readonly Pick<Template, 'type' | 'files'>[],
  roots: readonly string[],
): Promise<TemplateProblem[]> {
  if (templates.every(({ files }) => files.length === 0)) return []
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-check-'))
  const sources = new FileSources({ folder, roots, timeout })
  const problems: TemplateProblem[] = []
  try {
    for (const { type, files } of templates)
      for (const { from } of files) {
        const problem = await problemOf(sources, from)
        if (problem !== undefined) problems.push({ type, problem: `${type}: files: ${problem}` })
      }
  } finally {
    await sources.close()
    await rm(folder, { recursive: true, force: true })
  }
  return problems
}

async function problemOf(sources: FileSources, from: Template['files'][number]['from']): Promise<string | undefined> {
  try {
    const set = await sources.load(from, 0, new AbortController().signal)
    await set.release()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
