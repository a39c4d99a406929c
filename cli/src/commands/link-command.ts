import { readFileSync } from 'node:fs'
import { openLink, openLinkProblem } from '@berth/api/open-link.ts'
import { addressesFor, readConfig } from '@berth/server/config/config.ts'
import { filesOfLink } from '@berth/server/templates/starter-files/link-files.ts'
import { CommandFailed } from '#/command-failure.ts'
import { defineCommand } from '#/command.ts'

/** `berth link open`. */
export const openLinkCommand = defineCommand({
  description: 'print a link that opens a container of a type, that of each reader, and a path in it',
  usage: (command) =>
    command
      .argument('<type>', 'container type')
      .argument('[path]', 'path and query below the address of the container', '')
      .option('--git <url>', 'Git repository at a host of OPEN_GIT_HOSTS whose files are put into the home')
      .option('--ref <ref>', 'its branch, tag or commit')
      .option('--to <folder>', 'folder of the home'),
  effect:
    'Read-only, and asks no running service. Who opens the link signs in first. What it names is checked by the settings of the environment or of berth.env.',
  examples: [
    ['link open notebook lab/tree/week1.ipynb', 'a notebook that each member of a class has'],
    [
      'link open notebook lab/tree/course/week1.ipynb --git https://git.example.org/course --to course',
      'the same with the files of a repository',
    ],
  ],
  work: async ({ env, terminal }, type, path, { git, ref, to }) => {
    const { config, problems } = readConfig(env, (file) => readFileSync(file, 'utf8'))
    if (!config) throw new CommandFailed(problems.join('\n'))
    const { types } = config.templates
    if (!types.includes(type)) throw new CommandFailed(`No type is called ${type}. Types: ${types.join(', ')}`)
    if (git === undefined && (ref !== undefined || to !== undefined))
      throw new CommandFailed('--ref and --to need --git, which names the repository.')
    if (openLinkProblem({ type, path }) !== undefined)
      throw new CommandFailed(
        'The link would not work: the path is what stands behind the address of a container, without `..`, backslashes and `%2f`.',
      )
    if (git !== undefined) refuseWrong(filesOfLink({ git, ref: ref ?? null, to: to ?? '' }, config.openGitHosts), git)
    const link = openLink(addressesFor(config, config.port).frontendUrl, {
      type,
      path,
      ...(git !== undefined && { git }),
      ...(ref !== undefined && { ref }),
      ...(to !== undefined && { to }),
    })
    terminal.json({ link })
    terminal.print(link)
  },
})

function refuseWrong(files: ReturnType<typeof filesOfLink>, git: string): void {
  if (files === 'host')
    throw new CommandFailed(`OPEN_GIT_HOSTS does not name the host of ${git}, so the link would not work.`)
  if (files === 'link')
    throw new CommandFailed(
      'The link would not work: --git is an http or https address without user, query and fragment, --ref a branch, tag or commit, --to a folder in the home.',
    )
}
