import type { Template } from '@berth/server/templates/template.ts'
import { TemplateSources } from '@berth/server/templates/template-sources.ts'
import type { CheckContext, Finding } from './check.ts'

/** Images that Berth builds on this machine; no registry has them. */
const isDemo = (image: string) => image.startsWith('berth-demo-')

/** Whether the image of every template is on the machine, or can be pulled. */
export async function checkImages({ config, engine }: CheckContext, signal: AbortSignal): Promise<Finding[]> {
  const types = Map.groupBy(config.templates.all(), ({ image }) => image)
  const sources = new TemplateSources(config.sources)
  const isInRegistry = async (image: string, [first]: readonly Template[]) =>
    engine.isInRegistry(image, signal, first && sources.credentialsOf(first)?.())
  const checked = [...types].map(async ([image, templates]) => {
    if (await engine.hasImage(image)) return []
    const names = templates.map(({ type }) => type).join(', ')
    if (isDemo(image)) return [cannotBeHad(image, names, 'npm start, which builds it')]
    const isThere = await isInRegistry(image, templates).catch((error: unknown) => error as Error)
    if (isThere === true) return [willBePulled(image, names)]
    const reason = isThere === false ? 'its registry does not offer it' : 'its registry does not answer'
    return [cannotBeHad(image, `${names}; ${reason}`, `docker pull ${image}; or correct image in the template`)]
  })
  return (await Promise.all(checked)).flat()
}

const willBePulled = (image: string, types: string): Finding => ({
  level: 'hint',
  what: `The image ${image} (${types}) is not on this machine: the first launch waits until it is pulled.`,
  fix: `docker pull ${image}`,
})

const cannotBeHad = (image: string, types: string, fix: string): Finding => ({
  level: 'critical',
  what: `The image ${image} (${types}) is not on this machine and cannot be pulled: launches fail.`,
  fix,
})
