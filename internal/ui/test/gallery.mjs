// Takes a picture of every screen, wide and on a phone, light and dark, for people to look at.
//
//   node test/gallery.mjs [folder [part of a screen's name]]
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { release, theBrowser } from "./browser.mjs";
import { name80, startGallery } from "./gallery-data.mjs";

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, "screenshots", "gallery"));
mkdirSync(folder, { recursive: true });

const press = (name) => (page) => page.getByRole("button", { name, exact: true }).click();

/** The same page, when the server answers differently. */
const answered = (what, answer) => async (page) => {
  await page.route(what, answer);
  await page.reload();
};
const json = (status, body) => (route) => route.fulfill({ status, contentType: "application/json", body: JSON.stringify(body) });

/** Every screen by its address; what is done there before the picture. */
const screens = (of) => ({
  "sign-in": ["/", answered("**/api/**", json(401, { status: 401, title: "Unauthorized", code: "unauthorized" }))],
  "no-server": ["/instances", answered("**/api/**", (route) => route.abort())],
  "home-first-visit": ["/", answered("**/api/v1/stats", json(200, { total: 0, statuses: {}, definitions: [] }))],
  "home": ["/"],
  "home-week": ["/?period=week"],
  "definitions": ["/definitions"],
  "definitions-deploy": ["/definitions?deploy=1"],
  "definition": ["/definitions/order"],
  "definition-40": ["/definitions/forty"],
  "definition-400": ["/definitions/" + name80],
  "definition-source": ["/definitions/shop?tab=source"],
  "definition-versions": ["/definitions/shop?tab=versions"],
  "definition-start": ["/definitions/shop?tab=start"],
  "definition-new": ["/definitions/shop?tab=deploy"],
  "instances": ["/instances"],
  "instances-failed": ["/instances?q=status:failed&sel=all"],
  "instances-delete": ["/instances?q=status:failed&sel=all", press("Delete…")],
  "instances-wrong": ["/instances?q=stauts:failed"],
  "instances-none": ["/instances?q=def:nothing"],
  "instance-failed": ["/instances/" + of.failed],
  "instance-calls": [`/instances/${of.failed}?tab=calls`],
  "instance-data": [`/instances/${of.failed}?tab=data`],
  "instance-history": [`/instances/${of.failed}?tab=history`],
  "instance-retry": ["/instances/" + of.failed, press("Retry with other data…")],
  "instance-foreach": ["/instances/" + of.foreach],
  "instance-foreach-calls": [`/instances/${of.foreach}?tab=calls`],
  "instance-40": ["/instances/" + of.forty],
  "instance-400": ["/instances/" + of.large],
  "instance-undone": ["/instances/" + of.undone],
  "instance-waiting": ["/instances/" + of.waiting],
  "instance-done": ["/instances/" + of.done],
  "instance-job": ["/instances/" + of.job],
  "instance-missing": ["/instances/nothing"],
  "schedules": ["/schedules"],
  "events": ["/events"],
  "events-unmatched": ["/events?unmatched=1"],
  "events-send": ["/events?send=1"],
  "boards": ["/board"],
  "board": ["/board/team.board"],
  "board-failed": ["/board/firmware.update"],
  "nodes": ["/nodes"],
  "playground": ["/playground", press("Run")],
  "not-found": ["/nothing"],
});

const looks = [
  ["1440", { viewport: { width: 1440, height: 900 }, colorScheme: "light" }],
  ["1440-dark", { viewport: { width: 1440, height: 900 }, colorScheme: "dark" }],
  ["390", { viewport: { width: 390, height: 844 }, colorScheme: "light" }],
  ["390-dark", { viewport: { width: 390, height: 844 }, colorScheme: "dark" }],
];

const { server, shown, stop } = await startGallery();
const browser = await theBrowser();
for (const [look, options] of looks) {
  const context = await browser.newContext({ ...options, reducedMotion: "reduce", locale: "en-GB", timezoneId: "UTC" });
  for (const [name, [path, prepare]] of Object.entries(screens(shown))) {
    if (!name.includes(process.argv[3] ?? "")) continue;
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    await page.goto(server.url + path);
    await page.waitForTimeout(1_000); // for people; no test depends on what is drawn by then
    try {
      await prepare?.(page);
      await page.waitForTimeout(300);
    } catch (e) {
      console.error(`${name}: ${e.message.split("\n")[0]}`);
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) console.error(`${name} at ${look}: ${wide} px wider than the window`);
    await page.screenshot({ path: join(folder, `${name}.${look}.png`), fullPage: true });
    await page.close();
  }
  await context.close();
}
await release();
await stop();
console.log("The pictures are in " + folder);
process.exit();
