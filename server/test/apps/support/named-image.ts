import type { TestOptions } from 'node:test'
import { askEngine } from '#test/support/engine/engine.ts'
import { catalogueTemplate } from './catalogue.ts'

/**
 * The image that the catalogue names, for an application that no package of npm or Debian has. Nothing is pulled: an operator
 * pulls or builds it before.
 * @returns the reference, and options that skip a test with words where the engine does not have the image
 */
export async function namedImage(name: string): Promise<{ image: string; isHere: boolean; onlyHere: TestOptions }> {
  const image = String(catalogueTemplate(name).image)
  const isHere = await askEngine('GET', `/images/${image}/json`).then(
    () => true,
    () => false,
  )
  return { image, isHere, onlyHere: isHere ? {} : { skip: `the engine does not have ${image}` } }
}
