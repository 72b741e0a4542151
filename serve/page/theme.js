// The colour theme: the one of the operating system, or the one that the reader has chosen.

const KEY = "aurora.theme";
const CHOICES = ["system", "light", "dark"];
const NAMES = { system: "Auto", light: "Light", dark: "Dark" };

/** Makes a button cycle through the themes. */
export function connect(button) {
  let choice = CHOICES.includes(localStorage.getItem(KEY)) ? localStorage.getItem(KEY) : "system";
  const apply = () => {
    document.documentElement.dataset.theme = choice;
    button.textContent = NAMES[choice];
    button.setAttribute("aria-label", `Colours: ${NAMES[choice]}`);
  };
  button.addEventListener("click", () => {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
    localStorage.setItem(KEY, choice);
    apply();
  });
  apply();
}
