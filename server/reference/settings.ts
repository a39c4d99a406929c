import { fileVariable } from '#/config/env-file.ts'
import { needRestart, secretSettings, settingGroups } from '#/config/settings.ts'
import type { Setting } from '#/config/setting-values.ts'
import { code, page, table, withLink } from './markdown.ts'

const introduction = `Every setting is an environment variable, or a line \`NAME=value\` in the file \`berth.env\` in Berth's own folder. The environment overrides the file. All settings are checked at start; all problems are reported at once, and the process exits with code 1. An empty value counts as not set (except \`SPAWNER_SUBDOMAIN=\`, which means no subdomain).

A setting marked † needs a restart. All others take effect with \`kill -HUP\`: see [change settings](../how-to/change-settings.md). \`./berth config check\` checks settings before they are used.`

const ofEnvironment = `More variables are read from the environment only:

${table(
  ['variable', 'default', 'meaning'],
  [
    [code('BERTH_ENV_FILE'), code('berth.env'), 'Path of the settings file. A file that is named here must exist.'],
    [code('BERTH_NO_INSTALL'), 'none', '`1`: set-up installs and starts nothing on the machine.'],
    [
      code('BERTH_LINK_DIR'),
      'none',
      'Folder of the sockets that `berth gateway` and `berth api` share, and of nothing else: the gateway removes what an earlier run has left there, and does not start where it finds other files or a gateway that runs. Both need it: see [run gateway and API apart](../how-to/run-gateway-and-api-apart.md).',
    ],
    [
      code('BERTH_CACHE_DIR'),
      '`.berth` in the folder of the release, if it can be written to',
      'Folder of parsed code and demo images of a release. Without one each start takes longer. Package and image set it to `/var/cache/berth`.',
    ],
  ],
)}`

const ofSecrets = `A setting that is a secret, or contains one, can be read from a file of its own:

${table(
  ['setting', 'variable that names its file'],
  secretSettings.map((name) => [code(name), code(fileVariable(name))]),
)}

The file holds the value alone, on one line; a line break at its end does not count. Berth refuses to start when both variables are set, and when the file is missing, empty, longer than 16,384 bytes, or can be read or written by every account of the machine (\`chmod o= file\`; secrets of Compose, Swarm and Kubernetes are mounted with \`mode: 0400\`). It is read at each start and after SIGHUP. Secrets of OpenID Connect providers: \`client_secret_file\` in [their file](openid-providers.md).`

/** docs/reference/settings.md */
export function settingsPage(): string {
  const sections = Object.entries(settingGroups).map(([title, settings]) => {
    const rows = Object.entries<Setting>(settings).map(([name, row]) => [
      needRestart.includes(name) ? `${code(name)} †` : code(name),
      row.values,
      row.usually ?? (row.default === null ? 'none' : code(row.default)),
      withLink(row.text, row.see),
    ])
    return `## ${title}\n\n${table(['setting', 'value', 'default', 'meaning'], rows)}`
  })
  return page(
    'Settings',
    'server/src/config/settings.ts',
    introduction,
    ...sections,
    '## Secrets in files',
    ofSecrets,
    '## Variables of the environment alone',
    ofEnvironment,
  )
}
