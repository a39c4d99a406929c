import { chosenFields, isNameList, namesIn } from '#/templates/catalogue.ts'
import { readTemplate, readTemplates, unlocated, type ReadTemplates } from '#/templates/read-templates.ts'
import { replaceablePaths } from '#/templates/replaceable-paths.ts'
import { TemplateSources, type SourceFolders } from '#/templates/template-sources.ts'
import { Templates } from '#/templates/template.ts'
import { hostLabelProblems, type ContainerRouting } from './container-routing.ts'
import type { SettingName } from './setting-descriptions.ts'

/** The demo images that set-up builds; used when the operator names no template. */
const demo = {
  dev: {
    display_name: 'Development',
    description: 'A workspace in the browser: files, editor and terminal',
    image: 'berth-demo-dev:latest',
  },
  prod: {
    display_name: 'Production',
    description: 'A site that serves the files of its home',
    image: 'berth-demo-prod:latest',
  },
} as const

/**
 * The templates of `CONTAINER_TEMPLATES` (names of the catalogue, or a map), of the file of `CONTAINER_TEMPLATES_FILE`, or the demo's.
 * @param folders what secrets and mounts are looked for in @param problems gets a sentence for each problem found
 */
export function readAllTemplates(
  text: (name: SettingName) => string | null,
  readFile: (path: string) => string,
  folders: SourceFolders,
  problems: string[],
): Templates {
  const inline = text('CONTAINER_TEMPLATES')
  const file = text('CONTAINER_TEMPLATES_FILE')
  if (inline !== null && file !== null)
    problems.push('CONTAINER_TEMPLATES and CONTAINER_TEMPLATES_FILE: set one of them, not both')
  const read =
    inline !== null ? readInline(inline) : file !== null ? readTemplatesFile(file, readFile) : demoTemplates(text)
  problems.push(...read.problems, ...problemsOfSources(read, folders))
  // A placeholder keeps the rest readable while the problems are collected; it is never served.
  return new Templates(read.templates.length > 0 ? read.templates : demoTemplates(text).templates)
}

function readInline(text: string): ReadTemplates {
  const source = 'CONTAINER_TEMPLATES'
  if (isNameList(text)) return templatesOfNames(text, source)
  if (/^\S+\.(ya?ml|json)$|^[./~]\S*$/.test(text))
    return {
      templates: [],
      problems: [`${source}: "${text}" looks like the path of a file, which the setting with _FILE at its end takes`],
      locate: unlocated,
    }
  return readTemplates(text, source)
}

/**
 * Templates of the catalogue by their names, each the type of its template.
 * @param list names, separated by commas @param source how the operator knows the list, for the messages
 */
export function templatesOfNames(list: string, source: string): ReadTemplates {
  const names = namesIn(list)
  const read = names.map((name, at) => {
    if (names.indexOf(name) < at) return { problems: [`"${name}" is named twice`] }
    const chosen = chosenFields(name)
    return 'problem' in chosen ? { problems: [chosen.problem] } : readTemplate(name, chosen.fields)
  })
  return {
    templates: read.flatMap((each) => ('template' in each && each.template ? each.template : [])),
    problems: read.flatMap(({ problems }) => problems.map((problem) => `${source}: ${problem}`)),
    locate: unlocated,
  }
}

const problemsOfSources = ({ templates, locate }: ReadTemplates, folders: SourceFolders): string[] => {
  const sources = new TemplateSources(folders)
  const ofEach = templates.flatMap((template) =>
    sources.problemsOf(template).map((problem) => ({ type: template.type, problem })),
  )
  return [...ofEach, ...replaceablePaths(templates, folders)].map(({ type, problem }) => locate(type, problem))
}

/** The templates of a file, and every problem of them, of the sources that they name, and of their hosts. */
export function readTemplateFile(
  file: string,
  readFile: (path: string) => string,
  folders: SourceFolders,
  routing: ContainerRouting = 'path',
): ReadTemplates {
  const read = readTemplatesFile(file, readFile)
  const ofHosts = routing === 'subdomain' ? hostLabelProblems(read.templates) : []
  const ofTemplates = ofHosts.map(({ type, problem }) => read.locate(type, problem))
  return { ...read, problems: [...read.problems, ...problemsOfSources(read, folders), ...ofTemplates] }
}

function readTemplatesFile(file: string, readFile: (path: string) => string): ReadTemplates {
  try {
    return readTemplates(readFile(file), `CONTAINER_TEMPLATES_FILE (${file})`)
  } catch (error) {
    const problem = `CONTAINER_TEMPLATES_FILE: cannot read ${file}: ${(error as Error).message}`
    return { templates: [], problems: [problem], locate: unlocated }
  }
}

function demoTemplates(text: (name: SettingName) => string | null): ReadTemplates {
  const fields = [
    readTemplate('dev', { ...demo.dev, image: text('USER_TEMPLATE_IMAGE_DEV') ?? demo.dev.image }),
    readTemplate('prod', { ...demo.prod, image: text('USER_TEMPLATE_IMAGE_PROD') ?? demo.prod.image }),
  ]
  return {
    templates: fields.flatMap(({ template }) => template ?? []),
    problems: fields.flatMap(({ problems }) => problems),
    locate: unlocated,
  }
}
