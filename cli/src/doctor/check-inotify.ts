import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { CheckContext, Finding } from './check.ts'

/**
 * Enough for some hundred containers. Limits count per user of the machine, and the same user runs the programs of all
 * containers; one editor takes some instances, and a watch for each folder of a project.
 */
const enough = { max_user_instances: 1_024, max_user_watches: 131_072 }

/** Whether containers can watch files: editors and development servers fail without ("too many open files"). */
export async function checkInotify({ proc }: CheckContext): Promise<Finding[]> {
  const read = Object.entries(enough).map(async ([name, wanted]) => {
    const number = Number(await readFile(path.join(proc, 'sys/fs/inotify', name), 'utf8'))
    return number < wanted ? [{ name, number, wanted: wanted * 8 }] : []
  })
  const low = (await Promise.all(read)).flat()
  if (low.length === 0) return []
  const values = low.map(({ name, number }) => `fs.inotify.${name} is ${number}`).join(', ')
  const lines = low.map(({ name, wanted }) => `fs.inotify.${name}=${wanted}`).join('\\n')
  return [
    {
      level: 'warning',
      what: `${values}, for the programs of all containers together: editors and development servers stop noticing changed files.`,
      fix: `printf '${lines}\\n' > /etc/sysctl.d/60-berth.conf && sysctl --system`,
    },
  ]
}
