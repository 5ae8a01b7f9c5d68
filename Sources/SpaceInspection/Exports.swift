// What is looked at is the tuple space and the recipes, in the public API too.
@_exported public import SpaceRecipes
