import { stringify } from 'yaml'
import { catalogueEntries, type CatalogueEntry } from '#/templates/catalogue.ts'
import { code, page, table } from './markdown.ts'

const introduction = `Templates that come with Berth, in the folder \`templates\` of each release. They are chosen by name; the name is the container type:

\`\`\`sh
CONTAINER_TEMPLATES=code-server,jupyterlab
\`\`\`

A value of only letters, digits, \`-\`, \`_\`, commas and spaces is a list of names; any other value is a map of [templates](templates.md). An unknown name keeps Berth from starting, with the nearest name and all names. \`berth templates catalogue\` lists them, \`berth templates catalogue jupyterlab\` prints one to copy, and \`berth templates check code-server,jupyterlab\` checks a list.

In a map, \`extends\` takes a template of the catalogue and changes fields of it:

\`\`\`yaml
statistics:
  extends: jupyterlab
  display_name: Statistics
  memory: 4g
  idle_timeout: 7200
\`\`\`

Images are those of the projects or of Docker Hub; pull them, or build your own with the same port, home and program. "Tried" means: used in Chromium behind Berth by \`npm run test:apps\`, whose images are made of packages of npm and Debian (of the source where the table says so), because tests ask no registry of images. A template that was not tried is written from the documentation of its application: try it before you offer it: \`berth templates try name\` ([try an application](../how-to/try-an-application.md)).

![The desktop of the catalogue, below its prefix](../images/catalogue-desktop.png)`

/** docs/reference/catalogue.md */
export function cataloguePage(): string {
  const entries = catalogueEntries()
  const rows = entries.map(({ name, title, tried, notTried }) => [
    `[${code(name)}](#${name})`,
    title,
    tried ?? 'no',
    notTried ?? '–',
  ])
  const overview = table(['name', 'application', 'tried', 'not tried'], rows)
  return page('Template catalogue', 'templates/', introduction, overview, ...entries.map(section))
}

function section({ name, description, behindPrefix, fields }: CatalogueEntry): string {
  const yaml = stringify({ [name]: fields }, { lineWidth: 0 }).trimEnd()
  return `## ${name}\n\n${description}. Behind the prefix it needs: ${lowered(behindPrefix)}\n\n\`\`\`yaml\n${yaml}\n\`\`\``
}

const lowered = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)
