/** Todo number `id` of every database that a trial begins with. */
export function todoNumber(id: number) {
  return { id, title: `Buy milk for the week ${id}`, done: id % 3 === 0, categoryId: (id % 2) + 1 };
}
