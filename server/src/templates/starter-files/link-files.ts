import { repositoryOf } from '@berth/api/open-link.ts'
import { starterFileList } from '#/templates/field-values.ts'
import { isExecutedUnasked, type StarterFiles } from '#/templates/template.ts'

/** What a link asks for: a Git repository, a branch, tag or commit of it, and a folder of the home. */
export interface GitLink {
  readonly git: string
  readonly ref: string | null
  readonly to: string
}

/**
 * The starter files that a link stands for; what a person changed is kept beside what is put there.
 * @param hosts those that the operator allows, as `OPEN_GIT_HOSTS` has them
 * @returns `host`: it is no host of these · `link`: it is no address of a repository, no name of a branch, or the folder leads out of the
 * home or to where programs execute what they find
 */
export function filesOfLink({ git, ref, to }: GitLink, hosts: readonly string[]): StarterFiles | 'host' | 'link' {
  const url = repositoryOf(git)
  if (!url) return 'link'
  if (!hosts.includes(url.host)) return 'host'
  const read = starterFileList.read([{ from: { git, ref }, to, update: 'changed' }])
  const files = 'value' in read ? read.value[0] : undefined
  if (!files || !('git' in files.from) || isExecutedUnasked(files.to)) return 'link'
  // Any person may have made the link.
  return { ...files, from: { ...files.from, isAnonymous: true }, isWithoutExecuted: true }
}
